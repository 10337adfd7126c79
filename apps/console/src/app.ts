import { group, type Routes } from '@slowwave/http';
import { keyRoutes } from './access.ts';
import { bundleRoutes } from './bundle.ts';
import { canaryRoutes } from './canaries.ts';
import { callerRoute, cellRoutes } from './cells.ts';
import { consolidationRoutes } from './consolidations.ts';
import type { ConsoleDeps } from './deps.ts';
import { graphRoutes } from './graph.ts';
import { memoryRoutes } from './memories.ts';
import { nightRoutes } from './nights.ts';
import { operatorRoutes } from './operator.ts';
import { getDrift, getOverview } from './overview.ts';
import { queuePages } from './queues.ts';
import { replayRoutes } from './replays.ts';
import { reviewRoutes } from './reviews.ts';
import { settingsRoutes } from './settings.ts';
import { sessionRoutes, subjectRoutes } from './subjects.ts';
import { suiteRoutes } from './suites.ts';
import { taskReads, taskWrites } from './tasks.ts';
import { undoRoutes } from './undos.ts';
import { holdRoutes, usageRoutes } from './usage.ts';
import { coldRoutes, getProfile, userRoutes } from './users.ts';
import { webhookRoutes } from './webhooks.ts';

const manage = [
  getOverview,
  ...usageRoutes,
  getDrift,
  ...memoryRoutes,
  ...consolidationRoutes,
  ...undoRoutes,
  ...nightRoutes,
  ...reviewRoutes,
  ...userRoutes,
  ...subjectRoutes,
  ...settingsRoutes,
  ...webhookRoutes,
  ...graphRoutes,
];

/** Explicit writes, insight into decisions, and repair; grouped by the scope that a key needs. */
export const consoleRoutes =
  (deps: ConsoleDeps): Routes =>
  async (app) => {
    await app.register(group('any', deps, [...sessionRoutes, callerRoute]));
    await app.register(group('search', deps, [...taskReads, getProfile]));
    await app.register(group('ingest', deps, taskWrites));
    await app.register(group('manage', deps, manage));
    await app.register(
      group('admin', deps, [...replayRoutes, ...suiteRoutes, ...canaryRoutes, ...holdRoutes, ...keyRoutes]),
    );
    await app.register(group('operator', deps, [...operatorRoutes, ...bundleRoutes, ...coldRoutes, ...cellRoutes]));
    await app.register(queuePages(deps));
  };
