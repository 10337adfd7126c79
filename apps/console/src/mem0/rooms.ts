import { type App, createShell, Registry, type Routes, type ShellOptions } from '@slowwave/http';

/**
 * All of our own routes, to be asked from inside alone: mem0's clients post, search and manage at one address, and one
 * request of theirs may be several of ours, which are neither counted nor measured again.
 */
export async function roomsInside(shell: ShellOptions, routes: readonly Routes[]): Promise<App> {
  const rooms = await createShell({ ...shell, name: 'rooms', keyRate: null, metrics: new Registry() });
  for (const one of routes) await rooms.register(one);
  return rooms;
}
