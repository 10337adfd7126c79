import { needScope, type Routes } from '@slowwave/http';
import { postContext } from './context/post-context.ts';
import type { SearchDeps } from './deps.ts';
import { getHistory } from './get-history.ts';
import { getMemory } from './get-memory.ts';
import { getSources } from './get-sources.ts';
import { getStats } from './get-stats.ts';
import { graphRoutes } from './graph/routes.ts';
import { listMemories } from './list-memories.ts';
import { listUsers } from './list-users.ts';
import { postSearch } from './post-search.ts';
import { postRecall } from './recall/post-recall.ts';

export type { SearchDeps } from './deps.ts';

/** Answers questions about what is remembered. Changes nothing. */
export const searchRoutes =
  (deps: SearchDeps): Routes =>
  async (app) => {
    needScope(app, 'search');
    postSearch(app, deps);
    postContext(app, deps);
    postRecall(app, deps);
    listMemories(app, deps);
    getMemory(app, deps);
    getHistory(app, deps);
    getSources(app, deps);
    listUsers(app, deps);
    getStats(app, deps);
    graphRoutes(app, deps);
  };
