import { pages } from '../../ports/ledger/page.ts';
import type {
  ChangedRelation,
  GraphRefusal,
  GraphWriter,
  GraphWritten,
  NewRelation,
  RelationPatch,
} from '../../ports/writers.ts';
import { cleanText } from '../../text/normalise.ts';
import type { Owner, TenantId } from '../../words.ts';
import { nameOf } from '../names.ts';
import { arityOf } from '../relationships.ts';
import type { Ends, Entity, HoldsStatement, KeptRelation } from '../words.ts';
import { type Draft, endsGiven, type GraphWriteDeps, saying, written } from './saying.ts';

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

const CONFLICT: GraphRefusal = { kind: 'conflict' };

/** Somebody says a relation. */
async function relate(
  deps: GraphWriteDeps,
  { tenant, owner }: { readonly tenant: TenantId; readonly owner: Owner },
  relation: NewRelation,
): Promise<GraphWritten<KeptRelation>> {
  const now = deps.tools.now();
  if (isLater(relation.until, now)) return notYet();
  const lane = await deps.ledger.memories.laneOf(tenant, owner, now);
  const given = await endsGiven(deps, { tenant, lane }, relation);
  if (given.kind !== 'ends') return given;
  const { ends, made } = given;
  const draft: Draft = {
    kind: 'holds',
    ...ends,
    validFrom: relation.validFrom ?? Math.min(now, relation.until ?? now),
    until: relation.until,
    single: relation.single ?? arityOf(ends.relationship) === 'one',
    quote: relation.quote === null ? null : cleanText(relation.quote),
  };
  const open = relation.until === null ? await openWith(deps, { tenant, owner, lane }, ends) : null;
  const statements = await saying(deps, { lane, about: [ends.destination] }, [draft]);
  const state = await written(deps, { tenant, lane }, { entities: made, statements });
  const kept = state === 'conflict' ? null : await keptOf(deps, tenant, [open?.id, statements[0]?.id]);
  return kept === null ? CONFLICT : { kind: 'written', value: kept, searchable: state === 'written' };
}

/** It was so otherwise, or is over: a plain end is said as such, anything else is denied and said anew. */
async function changeRelation(
  deps: GraphWriteDeps,
  { tenant, id }: { readonly tenant: TenantId; readonly id: string },
  patch: RelationPatch,
): Promise<GraphWritten<ChangedRelation>> {
  const relation = await existing(deps, tenant, id);
  if (relation === null) return { kind: 'not_found', what: 'relation', id };
  if (isLater(patch.invalidAt ?? null, deps.tools.now())) return notYet();
  if (isEndAlone(relation, patch)) return endRelation(deps, relation, patch);
  return sayAnew(deps, relation, patch);
}

const isEndAlone = ({ invalidAt }: KeptRelation, { reason: _, ...patch }: RelationPatch): boolean =>
  invalidAt === null && patch.invalidAt != null && Object.values(patch).filter((one) => one !== undefined).length === 1;

async function endRelation(
  deps: GraphWriteDeps,
  relation: KeptRelation,
  { invalidAt, reason = 'ended by API' }: RelationPatch,
): Promise<GraphWritten<ChangedRelation>> {
  const { tenant, lane, destination } = relation;
  if (invalidAt == null || invalidAt < relation.validFrom) return beforeItBegan();
  const draft: Draft = { kind: 'ended', ...endsOf(relation), at: invalidAt, reason: cleanText(reason) };
  const statements = await saying(deps, { lane, about: [destination] }, [draft]);
  const state = await written(deps, { tenant, lane }, { entities: [], statements });
  const kept = state === 'conflict' ? null : await keptOf(deps, tenant, [relation.id]);
  if (kept === null) return CONFLICT;
  return { kind: 'written', value: { relation: kept, replaces: null }, searchable: state === 'written' };
}

async function sayAnew(
  deps: GraphWriteDeps,
  relation: KeptRelation,
  patch: RelationPatch,
): Promise<GraphWritten<ChangedRelation>> {
  const { tenant, lane } = relation;
  const asked = {
    source: patch.source ?? { kind: 'id' as const, id: relation.source },
    relationship: patch.relationship ?? relation.relationship,
    destination: patch.destination ?? { kind: 'id' as const, id: relation.destination },
  };
  const given = await endsGiven(deps, { tenant, lane }, asked);
  if (given.kind !== 'ends') return given;
  const until = patch.invalidAt === undefined ? relation.invalidAt : patch.invalidAt;
  const validFrom = patch.validFrom ?? relation.validFrom;
  if (until !== null && until < validFrom) return beforeItBegan();
  const single = arityOf(given.ends.relationship) === 'one' || (await wasSingle(deps, relation));
  const anew: Draft = { ...periodOf(relation), ...given.ends, validFrom, until, single };
  const drafts = [...(await denialOf(deps, relation)), anew];
  const about = [relation.destination, given.ends.destination].filter(
    (one) => !given.made.some(({ id }) => id === one),
  );
  const statements = await saying(deps, { lane, about }, drafts);
  const open = until === null ? await openWith(deps, relation, given.ends) : null;
  const state = await written(deps, { tenant, lane }, { entities: given.made, statements });
  const ids = [open?.id === relation.id ? undefined : open?.id, statements.at(-1)?.id];
  const kept = state === 'conflict' ? null : await keptOf(deps, tenant, ids);
  if (kept === null) return CONFLICT;
  return { kind: 'written', value: { relation: kept, replaces: relation.id }, searchable: state === 'written' };
}

/** It never was. */
async function removeRelation(
  deps: GraphWriteDeps,
  { tenant, id }: { readonly tenant: TenantId; readonly id: string },
): Promise<GraphWritten<KeptRelation>> {
  const relation = await existing(deps, tenant, id);
  if (relation === null) return { kind: 'not_found', what: 'relation', id };
  const { lane, destination } = relation;
  const statements = await saying(deps, { lane, about: [destination] }, await denialOf(deps, relation));
  const state = await written(deps, { tenant, lane }, { entities: [], statements });
  return state === 'conflict' ? CONFLICT : { kind: 'written', value: relation, searchable: state === 'written' };
}

/** Denies one period of a relation. A denial is of all of them: the others are said again as they were. */
async function denialOf(deps: GraphWriteDeps, relation: KeptRelation): Promise<readonly Draft[]> {
  const others = (await periodsOf(deps, relation)).filter(({ id }) => id !== relation.id);
  return [{ kind: 'denied', ...endsOf(relation) }, ...others.map(periodOf)];
}

/** A period as it was said, without ending others: those that it ended are told by themselves. */
const periodOf = (
  relation: KeptRelation,
): Omit<HoldsStatement, 'id' | 'saidAt' | 'recordedAt' | 'consolidationId'> => ({
  kind: 'holds',
  ...endsOf(relation),
  validFrom: relation.validFrom,
  until: relation.invalidAt,
  single: false,
  messageIds: relation.messageIds,
  memoryIds: relation.memoryIds,
  quote: relation.quote,
});

const endsOf = ({ source, relationship, destination }: Ends): Ends => ({ source, relationship, destination });

const isLater = (at: number | null, now: number): boolean => at !== null && at > now;

const notYet = (): GraphRefusal => ({
  kind: 'refused',
  why: 'invalid_at is in the future; end the relation once it has ended',
});

const beforeItBegan = (): GraphRefusal => ({ kind: 'refused', why: 'invalid_at is before valid_from' });

/** Relations around an end that are looked through. */
const AROUND_MAX = 1_000;

/** All times at which a relation held. */
const periodsOf = (deps: GraphWriteDeps, relation: KeptRelation): Promise<readonly KeptRelation[]> =>
  withEnds(deps, relation, { ends: relation, at: 'ever' });

/** The relation of these ends that holds now. */
async function openWith(deps: GraphWriteDeps, where: OfLane, ends: Ends): Promise<KeptRelation | null> {
  const [open] = await withEnds(deps, where, { ends, at: null });
  return open ?? null;
}

type OfLane = Pick<KeptRelation, 'tenant' | 'owner' | 'lane'>;

/** Found around the end that has fewer relations; where both have many, among all with that relationship. */
async function withEnds(
  { ledger }: GraphWriteDeps,
  { tenant, owner, lane }: OfLane,
  { ends, at }: { readonly ends: Ends; readonly at: null | 'ever' },
): Promise<readonly KeptRelation[]> {
  const isMeant = (one: KeptRelation): boolean => sameEnds(one, ends);
  for (const end of [ends.destination, ends.source]) {
    const around = await ledger.graph.around(lane, { entities: [end], at, limit: AROUND_MAX });
    if (around.length < AROUND_MAX) return around.filter(isMeant);
  }
  const found: KeptRelation[] = [];
  const filter = { at, relationship: ends.relationship };
  for await (const one of pages((page) => ledger.graph.listRelations(tenant, owner, filter, page))) {
    if (isMeant(one)) found.push(one);
  }
  return found;
}

/** Whether it was said to be the only one of its source. */
async function wasSingle({ ledger }: GraphWriteDeps, { id, lane, destination }: KeptRelation): Promise<boolean> {
  const said = await ledger.graph.statements(lane, { entities: [destination] });
  const first = said.find(({ statement }) => statement.id === id)?.statement;
  return first?.kind === 'holds' && first.single;
}

/** A relation that counts. */
async function existing({ ledger }: GraphWriteDeps, tenant: TenantId, id: string): Promise<KeptRelation | null> {
  const relation = await ledger.graph.relation(tenant, id);
  return relation?.counts === true ? relation : null;
}

/** The first of these ids that a relation which counts has. */
async function keptOf(
  deps: GraphWriteDeps,
  tenant: TenantId,
  ids: readonly (string | undefined)[],
): Promise<KeptRelation | null> {
  for (const id of ids) {
    const kept = id === undefined ? null : await existing(deps, tenant, id);
    if (kept !== null) return kept;
  }
  return null;
}

const sameEnds = (a: Ends, b: Ends): boolean =>
  a.source === b.source && a.relationship === b.relationship && a.destination === b.destination;
