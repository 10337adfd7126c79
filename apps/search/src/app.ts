import { group, type Routes } from '@slowwave/http';
import { postContext } from './context/context.ts';
import type { SearchDeps } from './deps.ts';
import { graphRoutes } from './graph/graph.ts';
import { idRoutes } from './ids.ts';
import { memoryRoutes } from './memories.ts';
import { messageRoutes } from './messages.ts';
import { postRecall } from './recall/recall.ts';
import { receiptRoutes } from './receipts.ts';
import { postSearch } from './search.ts';

export type { SearchDeps } from './deps.ts';

/** Answers questions about what is remembered. Changes nothing of it. */
export const searchRoutes = (deps: SearchDeps): Routes =>
  group('search', deps, [
    postSearch,
    postContext,
    postRecall,
    ...memoryRoutes,
    ...idRoutes,
    ...messageRoutes,
    ...receiptRoutes,
    ...graphRoutes,
  ]);
