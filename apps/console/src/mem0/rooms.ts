import { type App, createShell, Registry, type Routes, type ShellOptions } from '@slowwave/http';

export interface Rooms {
  readonly open: () => Promise<App>;
  readonly close: () => Promise<void>;
}

/**
 * All of our own routes, to be asked from inside alone: mem0's clients post, search and manage at one address, and one
 * request of theirs may be several of ours, which are neither counted nor measured again. Opened with the first
 * question: who has no such client starts as fast as without.
 */
export function roomsInside(shell: ShellOptions, routes: readonly Routes[]): Rooms {
  let opened: Promise<App> | null = null;
  const open = (): Promise<App> => {
    opened ??= create(shell, routes);
    return opened;
  };
  return { open, close: async () => void (await (await opened)?.close()) };
}

async function create(shell: ShellOptions, routes: readonly Routes[]): Promise<App> {
  const rooms = await createShell({ ...shell, name: 'rooms', keyRate: null, metrics: new Registry() });
  for (const one of routes) await rooms.register(one);
  return rooms;
}
