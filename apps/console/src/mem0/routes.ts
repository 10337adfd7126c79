import {
  type App,
  createShell,
  type HttpLog,
  needScope,
  Registry,
  type Routes,
  type ShellOptions,
} from '@slowwave/http';
import { addMemories, events } from './add.ts';
import { type Ask, answerErrorsLikeMem0, asking } from './ask.ts';
import {
  deleteOfOwner,
  entities,
  feedback,
  memoryExports,
  oneMemory,
  resetTenant,
  severalMemories,
} from './memories.ts';
import { project, webhooks } from './project.ts';
import { listMemories, searchMemories } from './search.ts';

/**
 * mem0's API, hosted and self-hosted, as a translation of ours: every route asks our own routes with the caller's key,
 * so that what is allowed, limited and checked there is so here.
 */
export const mem0Routes =
  (shell: ShellOptions, ours: readonly Routes[], allowed: Allowed): Routes =>
  async (app) => {
    const rooms = roomsInside(shell, ours);
    app.addHook('onClose', rooms.close);
    await app.register(routes(asking(rooms.open), shell.log, allowed), { prefix: '/mem0' });
  };

/** What the operator's settings allow. */
interface Allowed {
  readonly reset: boolean;
}

const routes =
  (ask: Ask, log: HttpLog, { reset }: Allowed): Routes =>
  async (app) => {
    needScope(app, 'any');
    hideFromDescription(app);
    answerErrorsLikeMem0(app, log);
    project(app, ask);
    addMemories(app, ask);
    searchMemories(app, ask);
    listMemories(app, ask);
    // Of the hosted service, and of mem0's open-source server.
    for (const at of ['/v1/memories', '/memories']) {
      oneMemory(app, ask, at);
      deleteOfOwner(app, ask, at);
    }
    severalMemories(app, ask);
    entities(app, ask);
    events(app, ask);
    feedback(app, ask);
    memoryExports(app, ask);
    webhooks(app, ask);
    // Whoever may not do all of it on our own routes is refused before any of it is done.
    await app.register(async (admins) => {
      needScope(admins, 'admin');
      resetTenant(admins, ask, reset);
    });
  };

/** mem0 documents these routes; docs/from-mem0.md lists the differences. */
function hideFromDescription(app: Parameters<Routes>[0]): void {
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true };
  });
}

interface Rooms {
  readonly open: () => Promise<App>;
  readonly close: () => Promise<void>;
}

/**
 * All of our own routes, for internal calls only: mem0's clients post, search and manage at one address. One of their
 * requests may be several of ours, which are neither counted nor measured again. Opened with the first request, so that
 * the start is not slower without such clients.
 */
function roomsInside(shell: ShellOptions, routes: readonly Routes[]): Rooms {
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
