import { type HttpLog, needScope, type Routes, type ShellOptions } from '@slowwave/http';
import { addMemories } from './add.ts';
import { type Ask, asking } from './ask.ts';
import { entities } from './entities.ts';
import { answerErrorsLikeMem0 } from './errors.ts';
import { events } from './events.ts';
import { memoryExports } from './exports.ts';
import { feedback } from './feedback.ts';
import { listMemories } from './list.ts';
import { oneMemory } from './one-memory.ts';
import { project } from './project.ts';
import { roomsInside } from './rooms.ts';
import { searchMemories } from './search.ts';
import { selfHosted } from './self-hosted.ts';
import { deleteOfOwner, severalMemories } from './several.ts';
import { webhooks } from './webhooks.ts';

/**
 * mem0's API, hosted and self-hosted, as a translation of ours: every route asks our own routes with the caller's key,
 * so that what is allowed, limited and checked there is so here.
 */
export const mem0Routes =
  (shell: ShellOptions, ours: readonly Routes[]): Routes =>
  async (app) => {
    const rooms = roomsInside(shell, ours);
    app.addHook('onClose', rooms.close);
    await app.register(routes(asking(rooms.open), shell.log), { prefix: '/mem0' });
  };

const routes =
  (ask: Ask, log: HttpLog): Routes =>
  async (app) => {
    needScope(app, 'any');
    hideFromDescription(app);
    answerErrorsLikeMem0(app, log);
    project(app, ask);
    addMemories(app, ask);
    searchMemories(app, ask);
    listMemories(app, ask);
    oneMemory(app, ask, '/v1/memories');
    deleteOfOwner(app, ask, '/v1/memories');
    severalMemories(app, ask);
    entities(app, ask);
    events(app, ask);
    feedback(app, ask);
    memoryExports(app, ask);
    webhooks(app, ask);
    selfHosted(app, ask);
  };

/** It is mem0's to describe; docs/from-mem0.md tells what differs. */
function hideFromDescription(app: Parameters<Routes>[0]): void {
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true };
  });
}
