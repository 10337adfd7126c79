import type { EngineDeps } from '../deps.ts';
import { ownerBitsOfLane } from '../ids.ts';
import { EXPLICIT_SEQ } from '../memories/write.ts';
import { allOf } from '../ports/ledger/ledger.ts';
import type {
  ChangedRelation,
  EntityGiven,
  GraphRefusal,
  GraphWriter,
  GraphWritten,
  NewRelation,
  RelationPatch,
} from '../ports/writers.ts';
import { cleanText, sameText } from '../text/normalise.ts';
import type { LaneId, Owner, TenantId } from '../words.ts';
import { entitiesMeant, isSelfName, nameOf, SELF_NAME } from './names.ts';
import { projectGraphNow } from './project.ts';
import { arityOf, isMutual, mayBeOneKind, relationshipOf } from './relationships.ts';
import type { Ends, Entity, HoldsStatement, KeptRelation, NewEntity, Statement } from './words.ts';

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

interface OfOne {
  readonly tenant: TenantId;
  readonly id: string;
}

/** Somebody says that one entity is the same as another, which stays. */
async function mergeEntity(
  deps: GraphWriteDeps,
  { tenant, id }: OfOne,
  { into, reason: given }: { readonly into: string; readonly reason: string },
): Promise<GraphWritten<Entity>> {
  const [source, named] = [await entityOf(deps, tenant, id), await entityOf(deps, tenant, into)];
  if (source === null) return notFound(id);
  if (named === null || named.lane !== source.lane) return notFound(into);
  const stays = named.mergedInto === null ? named : await entityOf(deps, tenant, named.mergedInto);
  if (stays === null) return notFound(into);
  if (stays.id === source.id || source.mergedInto === stays.id) return refused(`${id} and ${into} are already merged`);
  if (source.self)
    return refused(`${id} is the owner's own entity and cannot be merged away; merge ${into} into it instead`);
  const reason = cleanText(given);
  // Kept as it was said: where what it is now stands apart later, they are still one. What it was said to be before, it is no more.
  const moved: readonly Draft[] = source.mergedInto === null ? [] : [{ kind: 'apart', source: id }];
  const same: Draft = { kind: 'same', source: id, destination: named.id, reason };
  return said(deps, source, { drafts: [...moved, same], shown: stays.id });
}

/** Somebody says that an entity stands for itself. */
async function splitEntity(deps: GraphWriteDeps, { tenant, id }: OfOne): Promise<GraphWritten<Entity>> {
  const entity = await entityOf(deps, tenant, id);
  if (entity === null) return notFound(id);
  return said(deps, entity, { drafts: [{ kind: 'apart', source: id }], shown: id });
}

/** Somebody says how an entity is also called. */
async function callEntity(deps: GraphWriteDeps, { tenant, id }: OfOne, alias: string): Promise<GraphWritten<Entity>> {
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
  return written(deps, { tenant, lane }, { entities: [], statements, shown: () => entityOf(deps, tenant, shown) });
}

async function entityOf({ ledger }: GraphWriteDeps, tenant: TenantId, id: string): Promise<Entity | null> {
  const [entity] = await ledger.graph.entities(tenant, [id]);
  return entity?.counts === true ? entity : null;
}

const notFound = (id: string): GraphRefusal => ({ kind: 'not_found', what: 'entity', id });
const refused = (why: string): GraphRefusal => ({ kind: 'refused', why });

/** Somebody says a relation. */
async function relate(
  deps: GraphWriteDeps,
  { tenant, owner }: { readonly tenant: TenantId; readonly owner: Owner },
  relation: NewRelation,
): Promise<GraphWritten<KeptRelation>> {
  const now = deps.tools.now();
  if (isLater(relation.until, now)) return NOT_YET;
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
  const shown = () => keptOf(deps, tenant, [open?.id, statements[0]?.id]);
  return written(deps, { tenant, lane }, { entities: made, statements, shown });
}

/** It was so otherwise, or is over: a plain end is said as such, anything else is denied and said anew. */
async function changeRelation(
  deps: GraphWriteDeps,
  { tenant, id }: OfOne,
  patch: RelationPatch,
): Promise<GraphWritten<ChangedRelation>> {
  const relation = await existing(deps, tenant, id);
  if (relation === null) return { kind: 'not_found', what: 'relation', id };
  if (isLater(patch.invalidAt ?? null, deps.tools.now())) return NOT_YET;
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
  if (invalidAt == null || invalidAt < relation.validFrom) return BEFORE_IT_BEGAN;
  const draft: Draft = { kind: 'ended', ...endsOf(relation), at: invalidAt, reason: cleanText(reason) };
  const statements = await saying(deps, { lane, about: [destination] }, [draft]);
  const shown = () => changedTo(deps, tenant, { ids: [relation.id], replaces: null });
  return written(deps, { tenant, lane }, { entities: [], statements, shown });
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
  if (until !== null && until < validFrom) return BEFORE_IT_BEGAN;
  const single = arityOf(given.ends.relationship) === 'one' || (await wasSingle(deps, relation));
  const anew: Draft = { ...periodOf(relation), ...given.ends, validFrom, until, single };
  const drafts = [...(await denialOf(deps, relation)), anew];
  const about = [relation.destination, given.ends.destination].filter(
    (one) => !given.made.some(({ id }) => id === one),
  );
  const statements = await saying(deps, { lane, about }, drafts);
  const open = until === null ? await openWith(deps, relation, given.ends) : null;
  const ids = [open?.id === relation.id ? undefined : open?.id, statements.at(-1)?.id];
  const shown = () => changedTo(deps, tenant, { ids, replaces: relation.id });
  return written(deps, { tenant, lane }, { entities: given.made, statements, shown });
}

/** It never was. */
async function removeRelation(deps: GraphWriteDeps, { tenant, id }: OfOne): Promise<GraphWritten<KeptRelation>> {
  const relation = await existing(deps, tenant, id);
  if (relation === null) return { kind: 'not_found', what: 'relation', id };
  const { lane, destination } = relation;
  const statements = await saying(deps, { lane, about: [destination] }, await denialOf(deps, relation));
  return written(deps, { tenant, lane }, { entities: [], statements, shown: async () => relation });
}

/** Denies one period of a relation. A denial is of all of them: the others are said again as they were. */
async function denialOf(deps: GraphWriteDeps, relation: KeptRelation): Promise<readonly Draft[]> {
  const periods = await withEnds(deps, relation, { ends: relation, at: 'ever' });
  return [{ kind: 'denied', ...endsOf(relation) }, ...periods.filter(({ id }) => id !== relation.id).map(periodOf)];
}

/** A period as it was said, without ending others: those that it ended are said by themselves. */
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

const NOT_YET = refused('invalid_at is in the future; set it when the relation has ended');
const BEFORE_IT_BEGAN = refused('invalid_at is before valid_from');

/** Relations around an end that are looked through. */
const AROUND_MAX = 1_000;

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
  const isMeant = ({ source, relationship, destination }: KeptRelation): boolean =>
    source === ends.source && relationship === ends.relationship && destination === ends.destination;
  for (const end of [ends.destination, ends.source]) {
    const around = await ledger.graph.around(lane, { entities: [end], at, limit: AROUND_MAX });
    if (around.length < AROUND_MAX) return around.filter(isMeant);
  }
  const filter = { at, relationship: ends.relationship };
  return (await allOf((page) => ledger.graph.listRelations(tenant, owner, filter, page))).filter(isMeant);
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

/** A changed relation: the first of these ids that is one. */
async function changedTo(
  deps: GraphWriteDeps,
  tenant: TenantId,
  { ids, replaces }: Pick<ChangedRelation, 'replaces'> & { readonly ids: readonly (string | undefined)[] },
): Promise<ChangedRelation | null> {
  const relation = await keptOf(deps, tenant, ids);
  return relation === null ? null : { relation, replaces };
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

/** What an explicit change of a graph works with: nothing that thinks. */
type GraphWriteDeps = Pick<EngineDeps, 'ledger' | 'tools' | 'log' | 'index' | 'embedder'>;

type Kind = Statement['kind'];
type Of<K extends Kind> = Extract<Statement, { readonly kind: K }>;
/** A statement without what all explicit ones have alike. */
type Draft = {
  [K in Kind]: Omit<Of<K>, keyof Said> & Partial<Pick<Said, 'quote' | 'messageIds' | 'memoryIds'>>;
}[Kind];
type Said = Pick<Statement, 'id' | 'saidAt' | 'recordedAt' | 'consolidationId' | 'messageIds' | 'memoryIds' | 'quote'>;

/**
 * Statements somebody makes themselves, in their order. Whoever writes explicitly has the last word about these entities,
 * also against messages that claim to come from the future.
 */
async function saying(
  { ledger, tools }: GraphWriteDeps,
  { lane, about }: { readonly lane: LaneId; readonly about: readonly string[] },
  drafts: readonly Draft[],
): Promise<readonly Statement[]> {
  const known = about.length === 0 ? [] : await ledger.graph.statements(lane, { entities: about });
  const now = tools.now();
  const latest = known.at(-1)?.statement.saidAt.at ?? 0;
  const at = latest < now ? now : latest + 1;
  const bits = ownerBitsOfLane(lane);
  return drafts.map((draft, i) => ({
    ...{ messageIds: [], memoryIds: [], quote: null },
    ...draft,
    id: tools.id('sta', bits),
    saidAt: { at, seq: EXPLICIT_SEQ - drafts.length + i + 1 },
    recordedAt: now,
    consolidationId: null,
  }));
}

interface Change<T> {
  readonly entities: readonly NewEntity[];
  readonly statements: readonly Statement[];
  /** What is shown of it once it is written; null: somebody else has changed that in between. */
  readonly shown: () => Promise<T | null>;
}

/** Writes a change and waits to have it found, by its words where the embedder does not answer. */
async function written<T>(
  deps: GraphWriteDeps,
  { tenant, lane }: Lane,
  { shown, ...change }: Change<T>,
): Promise<GraphWritten<T>> {
  const { kind } = await deps.ledger.graph.write(tenant, lane, { ...change, now: deps.tools.now() });
  if (kind === 'conflict') return { kind: 'conflict' };
  const searchable = await projectGraphNow(deps, lane, 'a graph was changed but is not searchable yet');
  const value = await shown();
  return value === null ? { kind: 'conflict' } : { kind: 'written', value, searchable: searchable !== 'later' };
}

/** The ends of a relation that somebody names, and the entities that are made for it. */
interface GivenEnds {
  readonly kind: 'ends';
  readonly ends: Ends;
  readonly made: readonly NewEntity[];
}

interface Lane {
  readonly tenant: TenantId;
  readonly lane: LaneId;
}

type Asked = Pick<NewRelation, 'source' | 'relationship' | 'destination'>;

type End = { readonly kind: 'end'; readonly id: string; readonly self: boolean; readonly made: NewEntity | null };

/** Looks entities up, makes those that are not there yet, and brings the relationship into its general form. */
async function endsGiven(deps: GraphWriteDeps, where: Lane, asked: Asked): Promise<GivenEnds | GraphRefusal> {
  const relationship = relationshipOf(asked.relationship);
  if (relationship === null) {
    return refused(`expected a relationship like works_at, got ${JSON.stringify(asked.relationship)}`);
  }
  const source = await endOf(deps, where, asked.source);
  if (source.kind !== 'end') return source;
  const destination = await endOf(deps, where, asked.destination);
  if (destination.kind !== 'end') return destination;
  if (source.id === destination.id || sameName(source.made, destination.made)) {
    return refused('source and destination are the same entity; a relation needs two entities');
  }
  const turned = relationship.inverse !== (isMutual(relationship.name) && destination.self);
  const [from, to] = turned ? [destination, source] : [source, destination];
  const made = [source.made, destination.made].filter((entity) => entity !== null);
  return { kind: 'ends', ends: { source: from.id, relationship: relationship.name, destination: to.id }, made };
}

const sameName = (a: NewEntity | null, b: NewEntity | null): boolean =>
  a !== null && b !== null && (a.self ? b.self : sameText(a.name, b.name));

async function endOf(deps: GraphWriteDeps, where: Lane, given: EntityGiven): Promise<End | GraphRefusal> {
  if (given.kind === 'name')
    return isSelfName(given.name) ? endOf(deps, where, { kind: 'self' }) : namedEnd(deps, where, given);
  const [found] = await entitiesMeant(deps.ledger.graph, where, given);
  if (found !== undefined) return { kind: 'end', id: found.id, self: found.self, made: null };
  if (given.kind === 'id') return { kind: 'not_found', what: 'entity', id: given.id };
  return newEnd(deps, where, { name: SELF_NAME, kind: 'person', self: true });
}

/** The one that is called so; a new one where there is none of its kind. */
async function namedEnd(
  deps: GraphWriteDeps,
  where: Lane,
  { name: given, of }: Extract<EntityGiven, { readonly kind: 'name' }>,
): Promise<End | GraphRefusal> {
  const name = nameOf(given);
  if (name === null) return refused(`expected the name of an entity, got ${JSON.stringify(given)}`);
  const called = await entitiesMeant(deps.ledger.graph, where, { kind: 'name', name });
  const fitting = called.filter(({ kind }) => of === null || mayBeOneKind(of, kind));
  const [found, another] = fitting;
  if (another !== undefined) return { kind: 'ambiguous', name, ids: fitting.map(({ id }) => id) };
  if (found !== undefined) return { kind: 'end', id: found.id, self: found.self, made: null };
  return newEnd(deps, where, { name, kind: of ?? 'thing', self: false });
}

function newEnd({ tools }: GraphWriteDeps, { lane }: Lane, entity: Omit<NewEntity, 'id'>): End {
  const made = { ...entity, id: tools.id('ent', ownerBitsOfLane(lane)) };
  return { kind: 'end', id: made.id, self: made.self, made };
}
