import { needScope, type Routes } from '@slowwave/http';
import { listAudit } from './audit.ts';
import { consolidationRoutes } from './consolidations.ts';
import type { ConsoleDeps } from './deps.ts';
import { graphRoutes } from './graph.ts';
import { keyRoutes } from './keys.ts';
import { memoryRoutes } from './memories.ts';
import { operatorRoutes } from './operator.ts';
import { queuePages } from './queues.ts';
import { replayRoutes } from './replays.ts';
import { reviewRoutes } from './reviews.ts';
import { settingsRoutes } from './settings.ts';
import { studyRoutes } from './studies.ts';
import { undoRoutes } from './undos.ts';
import { userRoutes } from './users.ts';
import { webhookRoutes } from './webhooks.ts';

export type { ConsoleDeps } from './deps.ts';

/** Explicit writes, insight into decisions, and repair; grouped by the scope that a key needs. */
export const consoleRoutes =
  (deps: ConsoleDeps): Routes =>
  async (app) => {
    await app.register(manage(deps));
    await app.register(admin(deps));
    await app.register(operator(deps));
  };

const manage =
  (deps: ConsoleDeps): Routes =>
  async (app) => {
    needScope(app, 'manage');
    memoryRoutes(app, deps);
    consolidationRoutes(app, deps);
    studyRoutes(app, deps);
    undoRoutes(app, deps);
    reviewRoutes(app, deps);
    userRoutes(app, deps);
    settingsRoutes(app, deps);
    webhookRoutes(app, deps);
    graphRoutes(app, deps);
  };

const admin =
  (deps: ConsoleDeps): Routes =>
  async (app) => {
    needScope(app, 'admin');
    replayRoutes(app, deps);
    keyRoutes(app, deps);
    listAudit(app, deps);
  };

/** What belongs to all tenants. */
const operator =
  (deps: ConsoleDeps): Routes =>
  async (app) => {
    needScope(app, 'operator');
    operatorRoutes(app, deps);
    await app.register(queuePages(deps));
  };
