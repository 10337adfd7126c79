import type { GraphWriter } from '../../ports/graph-writer.ts';
import { callEntity, mergeEntity, splitEntity } from './entities.ts';
import { changeRelation, relate, removeRelation } from './relations.ts';
import type { GraphWriteDeps } from './saying.ts';

/** Explicit changes of graphs: statements like those of a study, without a model. */
export function graphWriter(deps: GraphWriteDeps): GraphWriter {
  return {
    relate: (tenant, owner, relation) => relate(deps, { tenant, owner }, relation),
    change: (tenant, id, patch) => changeRelation(deps, { tenant, id }, patch),
    remove: (tenant, id) => removeRelation(deps, { tenant, id }),
    merge: (tenant, id, how) => mergeEntity(deps, { tenant, id }, how),
    split: (tenant, id) => splitEntity(deps, { tenant, id }),
    call: (tenant, id, alias) => callEntity(deps, { tenant, id }, alias),
  };
}
