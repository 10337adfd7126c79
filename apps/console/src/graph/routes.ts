import type { App } from '@slowwave/http';
import type { ConsoleDeps } from '../deps.ts';
import { deleteRelation } from './delete-relation.ts';
import { patchEntity, postMerge, postSplit } from './entities.ts';
import { patchRelation } from './patch-relation.ts';
import { postRelation } from './post-relation.ts';

/** Explicit changes of a graph. */
export function graphRoutes(app: App, deps: ConsoleDeps): void {
  postRelation(app, deps);
  patchRelation(app, deps);
  deleteRelation(app, deps);
  postMerge(app, deps);
  postSplit(app, deps);
  patchEntity(app, deps);
}
