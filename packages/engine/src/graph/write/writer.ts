import type { GraphRefusal, GraphWriter, GraphWritten } from '../../ports/writers.ts';
import { cleanText } from '../../text/normalise.ts';
import type { TenantId } from '../../words.ts';
import { nameOf } from '../names.ts';
import type { Entity } from '../words.ts';
import { changeRelation, relate, removeRelation } from './relations.ts';
import { type Draft, type GraphWriteDeps, saying, written } from './saying.ts';

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

interface OfEntity {
  readonly tenant: TenantId;
  readonly id: string;
}

/** Somebody says that one entity is the same as another, which stays. */
async function mergeEntity(
  deps: GraphWriteDeps,
  { tenant, id }: OfEntity,
  { into, reason: given }: { readonly into: string; readonly reason: string },
): Promise<GraphWritten<Entity>> {
  const [source, named] = [await entityOf(deps, tenant, id), await entityOf(deps, tenant, into)];
  if (source === null) return notFound(id);
  if (named === null || named.lane !== source.lane) return notFound(into);
  const stays = named.mergedInto === null ? named : await entityOf(deps, tenant, named.mergedInto);
  if (stays === null) return notFound(into);
  if (stays.id === source.id || source.mergedInto === stays.id) return refused(`${id} and ${into} are one already`);
  if (source.self) return refused(`${id} is the owner's own entity, which stays: merge ${into} into it`);
  const reason = cleanText(given);
  // Kept as it was said: where what it is now stands apart later, they are still one. What it was said to be before, it is no more.
  const moved: readonly Draft[] = source.mergedInto === null ? [] : [{ kind: 'apart', source: id }];
  const same: Draft = { kind: 'same', source: id, destination: named.id, reason };
  return said(deps, source, { drafts: [...moved, same], shown: stays.id });
}

/** Somebody says that an entity stands for itself. */
async function splitEntity(deps: GraphWriteDeps, { tenant, id }: OfEntity): Promise<GraphWritten<Entity>> {
  const entity = await entityOf(deps, tenant, id);
  if (entity === null) return notFound(id);
  return said(deps, entity, { drafts: [{ kind: 'apart', source: id }], shown: id });
}

/** Somebody says how an entity is also called. */
async function callEntity(
  deps: GraphWriteDeps,
  { tenant, id }: OfEntity,
  alias: string,
): Promise<GraphWritten<Entity>> {
  const entity = await entityOf(deps, tenant, id);
  if (entity === null) return notFound(id);
  const name = nameOf(alias);
  if (name === null) return refused(`expected the name of an entity, got ${JSON.stringify(alias)}`);
  return said(deps, entity, { drafts: [{ kind: 'named', source: id, name }], shown: id });
}

async function said(
  deps: GraphWriteDeps,
  { tenant, lane, id }: Entity,
  { drafts, shown }: { readonly drafts: readonly Draft[]; readonly shown: string },
): Promise<GraphWritten<Entity>> {
  const statements = await saying(deps, { lane, about: [id] }, drafts);
  const state = await written(deps, { tenant, lane }, { entities: [], statements });
  const entity = state === 'conflict' ? null : await entityOf(deps, tenant, shown);
  return entity === null ? { kind: 'conflict' } : { kind: 'written', value: entity, searchable: state === 'written' };
}

async function entityOf({ ledger }: GraphWriteDeps, tenant: TenantId, id: string): Promise<Entity | null> {
  const [entity] = await ledger.graph.entities(tenant, [id]);
  return entity?.counts === true ? entity : null;
}

const notFound = (id: string): GraphRefusal => ({ kind: 'not_found', what: 'entity', id });
const refused = (why: string): GraphRefusal => ({ kind: 'refused', why });
