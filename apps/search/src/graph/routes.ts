import type { App } from '@slowwave/http';
import type { SearchDeps } from '../deps.ts';
import { getEntity } from './get-entity.ts';
import { getGraph } from './get-graph.ts';
import { getEntityHistory, getRelation, getRelationHistory } from './get-relation.ts';
import { listEntities } from './list-entities.ts';
import { listProposals } from './list-proposals.ts';
import { listRelations } from './list-relations.ts';
import { postGraphQuery } from './post-query.ts';

/** What is asked of the graph. */
export function graphRoutes(app: App, deps: SearchDeps): void {
  getGraph(app, deps);
  postGraphQuery(app, deps);
  listProposals(app, deps);
  listEntities(app, deps);
  getEntity(app, deps);
  getEntityHistory(app, deps);
  listRelations(app, deps);
  getRelation(app, deps);
  getRelationHistory(app, deps);
}
