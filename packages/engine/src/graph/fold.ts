import { undosInEffect } from '../memories/former.ts';
import type { Undo } from '../ports/ledger/feedback.ts';
import { normaliseText } from '../text/normalise.ts';
import { compareSaid, type Millis, type SaidAt } from '../words.ts';
import type {
  DeniedStatement,
  EndedStatement,
  Entity,
  HoldsStatement,
  KeptRelation,
  MergeProposal,
  NewEntity,
  Relation,
  Statement,
} from './words.ts';

type OfRelation = HoldsStatement | EndedStatement | DeniedStatement;

/** Where each entity stands: the one it was merged into, at the end of the chain. */
export type Standing = (entity: string) => string;

/** One entity is said to be another one; kept as it was said, whatever the other one stands for. */
interface Link {
  readonly source: string;
  readonly destination: string;
}

/**
 * Which entity stands for which, from the statements that count. All that are said to be the same are one, directly or through
 * others, in whatever order it was said; what was said of an entity before it was said to stand apart links it no more, and leaves
 * all others as they are. Of those that are one the last destination stays: a merge that closes a ring changes nothing, and
 * the owner's own entity is never merged into another one.
 */
export function standingOf(statements: readonly Statement[], self: string | null): Standing {
  const into = new Map<string, string>();
  const end = (entity: string): string => {
    let at = entity;
    for (let next = into.get(at); next !== undefined; next = into.get(at)) at = next;
    return at;
  };
  for (const link of linksOf(statements)) {
    const [source, destination] = [end(link.source), end(link.destination)];
    if (source === destination) continue;
    if (source === self) into.set(destination, source);
    else into.set(source, destination);
  }
  return end;
}

/** Those that no later statement takes apart, in the order they were said. */
function linksOf(statements: readonly Statement[]): readonly Link[] {
  const said: Link[] = [];
  const cut = new Set<Link>();
  for (const statement of inOrder(statements)) {
    if (statement.kind === 'same') said.push(statement);
    if (statement.kind === 'apart') for (const link of linksAt(statement.source, said)) cut.add(link);
  }
  return said.filter((link) => !cut.has(link));
}

/** The links that say what an entity is; in a ring also those by which what it is was said to be itself. */
function linksAt(entity: string, links: readonly Link[]): readonly Link[] {
  const reached = new Set([entity]);
  for (const one of reached) for (const { source, destination } of links) if (source === one) reached.add(destination);
  return links.filter(
    ({ source, destination }) => source === entity || (destination === entity && reached.has(source)),
  );
}

/**
 * The relations that follow from statements that count: all those of some sources with some relationships, whoever brought
 * them in whatever order. What was said later decides; when it was recorded decides only between equals.
 */
export function foldRelations(statements: readonly Statement[], standing: Standing): readonly Relation[] {
  const groups = new Map<string, OfRelation[]>();
  for (const statement of inOrder(statements)) {
    if (!isOfRelation(statement)) continue;
    const own = { ...statement, source: standing(statement.source), destination: standing(statement.destination) };
    if (own.source === own.destination) continue; // it was merged with itself: nothing is related to itself
    const key = `${own.source} ${own.relationship}`;
    const group = groups.get(key) ?? [];
    group.push(own);
    groups.set(key, group);
  }
  return [...groups.values()].flatMap(foldGroup);
}

/** All destinations of one source with one relationship. */
function foldGroup(statements: readonly OfRelation[]): readonly Relation[] {
  let relations: Relation[] = [];
  for (const statement of undenied(statements)) {
    if (statement.kind === 'holds') relations = holds(relations, statement);
    if (statement.kind === 'ended') relations = relations.map((one) => ended(one, statement));
  }
  return relations;
}

/** What never was has ended nothing, either: what was denied later is passed over from the first. */
function undenied(statements: readonly OfRelation[]): readonly OfRelation[] {
  const denials = new Map<string, number>();
  for (const [place, { kind, destination }] of statements.entries()) {
    if (kind === 'denied') denials.set(destination, place);
  }
  return statements.filter(({ destination }, place) => place > (denials.get(destination) ?? -1));
}

function holds(relations: readonly Relation[], statement: HoldsStatement): Relation[] {
  if (statement.until !== null) return [...relations, endAt(begun(statement), statement.until, statement.id)];
  const open = relations.findIndex((one) => one.destination === statement.destination && one.invalidAt === null);
  const next = relations.map((one, at) => {
    if (at === open) return confirmed(one, statement);
    return statement.single ? endAt(one, statement.validFrom, statement.id) : one;
  });
  return open === -1 ? [...next, begun(statement)] : next;
}

const begun = (statement: HoldsStatement): Relation => ({
  id: statement.id,
  source: statement.source,
  relationship: statement.relationship,
  destination: statement.destination,
  validFrom: statement.validFrom,
  invalidAt: null,
  endedBy: null,
  saidAt: statement.saidAt,
  confirmations: 0,
  messageIds: statement.messageIds,
  memoryIds: statement.memoryIds,
  quote: statement.quote,
});

/** Said again: it may have begun earlier than was known. */
const confirmed = (relation: Relation, statement: HoldsStatement): Relation => ({
  ...relation,
  validFrom: Math.min(relation.validFrom, statement.validFrom),
  confirmations: relation.confirmations + 1,
  messageIds: joined(relation.messageIds, statement.messageIds),
  memoryIds: joined(relation.memoryIds, statement.memoryIds),
});

function ended(relation: Relation, statement: EndedStatement): Relation {
  if (relation.destination !== statement.destination) return relation;
  const end = endAt(relation, statement.at, statement.id);
  return end === relation
    ? relation
    : {
        ...end,
        messageIds: joined(relation.messageIds, statement.messageIds),
        memoryIds: joined(relation.memoryIds, statement.memoryIds),
      };
}

/** What ended before it began was over at once. */
const endAt = (relation: Relation, at: number, by: string): Relation =>
  relation.invalidAt === null ? { ...relation, invalidAt: Math.max(at, relation.validFrom), endedBy: by } : relation;

const joined = (some: readonly string[], more: readonly string[]): readonly string[] => [
  ...new Set([...some, ...more]),
];

const isOfRelation = (statement: Statement): statement is OfRelation =>
  statement.kind === 'holds' || statement.kind === 'ended' || statement.kind === 'denied';

/** In the order they were said; of equals, the one recorded first. */
export const inOrder = <T extends { readonly saidAt: SaidAt; readonly recordedAt: number; readonly id: string }>(
  statements: readonly T[],
): readonly T[] =>
  statements.toSorted(
    (a, b) => compareSaid(a.saidAt, b.saidAt) || a.recordedAt - b.recordedAt || compareIds(a.id, b.id),
  );

export const compareIds = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** What of an entity follows from the statements that count. */
export type Following = Pick<Entity, 'aliases' | 'mergedInto' | 'counts'>;

type Called = Pick<Entity, 'id' | 'name'>;

/** The whole graph of a lane: what its entities are, and its relations. */
export function graphOf(
  entities: readonly Called[],
  counting: readonly Statement[],
  self: string | null,
): { readonly entities: ReadonlyMap<string, Following>; readonly relations: readonly Relation[] } {
  const standing = standingOf(counting, self);
  const merged = Map.groupBy(entities, ({ id }) => standing(id));
  const about = groupByEnds(counting);
  const followings = entities.map((entity) => {
    const others = standing(entity.id) === entity.id ? (merged.get(entity.id) ?? []) : [];
    const all = [entity, ...others].flatMap(({ id }) => about.get(id) ?? []);
    return [entity.id, followingOf(entity, { merged: others, counting: all, standing })] as const;
  });
  return { entities: new Map(followings), relations: foldRelations(counting, standing) };
}

/** What follows for one entity, of the ones that were merged into it and all statements that count and name any of them. */
function followingOf(
  entity: Called,
  given: { readonly merged: readonly Called[]; readonly counting: readonly Statement[]; readonly standing: Standing },
): Following {
  const end = given.standing(entity.id);
  return {
    aliases: aliasesOf(entity, given.merged, given.counting),
    mergedInto: end === entity.id ? null : end,
    counts: given.counting.some((statement) => endsOf(statement).includes(entity.id)),
  };
}

/** The entities that a statement names. */
export function endsOf(statement: Statement): readonly string[] {
  return 'destination' in statement ? [statement.source, statement.destination] : [statement.source];
}

/** The same statement of other entities. */
export function renamed(statement: Statement, nameOf: (id: string) => string): Statement {
  const source = nameOf(statement.source);
  return 'destination' in statement
    ? { ...statement, source, destination: nameOf(statement.destination) }
    : { ...statement, source };
}

/** An entity's other names in the order they were said, then what the others were first called; each once, however it is written. */
export function aliasesOf(
  entity: Called,
  merged: readonly Called[],
  counting: readonly Statement[],
): readonly string[] {
  const ids = new Set([entity, ...merged].map(({ id }) => id));
  const said = inOrder(counting).flatMap((one) => (one.kind === 'named' && ids.has(one.source) ? [one.name] : []));
  const first = merged.toSorted((a, b) => (a.id < b.id ? -1 : 1)).filter(({ id }) => id !== entity.id);
  const names = new Map<string, string>([[normaliseText(entity.name), entity.name]]);
  for (const name of [...said, ...first.map((one) => one.name)]) {
    const key = normaliseText(name);
    if (!names.has(key)) names.set(key, name);
  }
  return [...names.values()].slice(1);
}

function groupByEnds(statements: readonly Statement[]): ReadonlyMap<string, readonly Statement[]> {
  const about = new Map<string, Statement[]>();
  for (const statement of statements) {
    for (const id of new Set(endsOf(statement))) {
      const known = about.get(id);
      if (known === undefined) about.set(id, [statement]);
      else known.push(statement);
    }
  }
  return about;
}

interface Change {
  readonly entities: readonly NewEntity[];
  readonly statements: readonly Statement[];
}

/**
 * A change as it is written: each lane has one entity of the owner, so where one is there already, it takes the place of a
 * new one.
 */
export function withOneSelf({ entities, statements }: Change, self: string | null): Change {
  const [first] = entities.filter((entity) => entity.self);
  const own = self ?? first?.id ?? null;
  const others = new Set(entities.filter((entity) => entity.self && entity.id !== own).map(({ id }) => id));
  if (own === null || others.size === 0) return { entities, statements };
  const nameOf = (id: string): string => (others.has(id) ? own : id);
  return {
    entities: entities.filter(({ id }) => !others.has(id)),
    statements: statements.map((statement) => renamed(statement, nameOf)),
  };
}

/** Statements are about entities of their own lane alone: what another lane knows is another owner's. */
export function requireKnownEnds(statements: readonly Statement[], known: ReadonlySet<string>): void {
  const stray = statements.find((statement) => endsOf(statement).some((id) => !known.has(id)));
  if (stray === undefined) return;
  throw new Error(`statement ${stray.id} names an entity that its lane does not have`);
}

/** When an explicit statement was recorded: the time, and how many undos its lane had before. */
export interface Recorded {
  readonly recordedAt: Millis;
  readonly undosBefore: number;
}

/**
 * Whether an explicit statement is taken back by the undos of its lane, oldest first: by a rollback that counts, came
 * after it, and leads back to before it.
 */
export function takenBackBy(undos: readonly Undo[]): (recorded: Recorded) => boolean {
  const rollbacks = undosInEffect(undos).filter(({ kind }) => kind === 'rollback');
  return ({ recordedAt, undosBefore }) =>
    rollbacks.some(({ number, to }) => number > undosBefore && to !== null && recordedAt > to);
}

/** A pair as a study found it. */
export interface Proposed extends MergeProposal {
  readonly recordedAt: Millis;
}

/** An entity that was said to stand for itself. */
export interface SaidApart {
  readonly source: string;
  readonly recordedAt: Millis;
}

export interface OpenProposal {
  readonly source: Entity;
  readonly destination: Entity;
  readonly likeness: number;
}

/** Pairs that nobody has decided on, as what the two stand for by now: each once, the most alike first. */
export function openProposals(
  proposed: readonly Proposed[],
  apart: readonly SaidApart[],
  entities: ReadonlyMap<string, Entity>,
): readonly OpenProposal[] {
  const standing = (id: string): Entity | undefined => {
    const one = entities.get(id);
    return one === undefined || one.mergedInto === null ? one : entities.get(one.mergedInto);
  };
  const pairs = new Map<string, OpenProposal>();
  for (const one of proposed.toSorted((a, b) => b.likeness - a.likeness)) {
    const [source, destination] = [standing(one.source), standing(one.destination)];
    if (source === undefined || destination === undefined || source.id === destination.id) continue;
    if (!source.counts || !destination.counts || isDecided(one, apart)) continue;
    const key = JSON.stringify([source.id, destination.id].sort());
    if (!pairs.has(key)) pairs.set(key, { source, destination, likeness: one.likeness });
  }
  return [...pairs.values()];
}

const isDecided = (proposed: Proposed, apart: readonly SaidApart[]): boolean =>
  apart.some(
    ({ source, recordedAt }) =>
      [proposed.source, proposed.destination].includes(source) && recordedAt >= proposed.recordedAt,
  );

interface Refolded {
  readonly kept: readonly FoldedRelation[];
  readonly changed: readonly FoldedRelation[];
  readonly next: readonly Relation[];
  readonly standing: Standing;
}

/**
 * What was so before these changes and is no longer: relations that have ended with them, and those that nothing says any more. Where
 * another one says in its place that it holds, it is so still.
 */
export function lostRelations({ kept, changed, next, standing }: Refolded): readonly FoldedRelation[] {
  const said = ({ source, relationship, destination }: Relation): string =>
    JSON.stringify([standing(source), relationship, standing(destination)]);
  const before = new Map(kept.map((one) => [one.id, one]));
  const holding = new Set(next.filter(({ invalidAt }) => invalidAt === null).map(said));
  return changed.filter((one) => {
    const was = before.get(one.id);
    if (was?.counts !== true || holding.has(said(one))) return false;
    return !one.counts || (was.invalidAt === null && one.invalidAt !== null);
  });
}

/** What a ledger keeps of a relation beside what follows. */
export type FoldedRelation = Relation & Pick<KeptRelation, 'revision' | 'counts' | 'recordedAt' | 'updatedAt'>;
type FoldedEntity = Pick<Entity, 'id' | 'revision'> & Following;

/**
 * What changes so that relations are what follows. `kept` has all that counted among those that were folded again, and
 * any that was ever kept under an id of `next`. What follows no more is kept, and counts no longer.
 */
export function changedRelations(
  kept: readonly FoldedRelation[],
  next: readonly Relation[],
  now: Millis,
): readonly FoldedRelation[] {
  const byId = new Map(kept.map((one) => [one.id, one]));
  const following = new Set(next.map(({ id }) => id));
  const changed = next.flatMap((relation) => {
    const before = byId.get(relation.id);
    if (before === undefined) return [{ ...relation, revision: 1, counts: true, recordedAt: now, updatedAt: now }];
    if (before.counts && sameRelation(before, relation)) return [];
    return [{ ...relation, ...raised(before, now), counts: true }];
  });
  const gone = kept.filter(({ id, counts }) => counts && !following.has(id));
  return [...changed, ...gone.map((relation) => ({ ...relation, ...raised(relation, now), counts: false }))];
}

/** The entities that change so that they are what follows; a new one, at revision 0, always does. */
export function changedEntities<T extends FoldedEntity>(
  kept: readonly T[],
  followings: ReadonlyMap<string, Following>,
): readonly T[] {
  return kept.flatMap((entity) => {
    const next = followings.get(entity.id);
    if (next === undefined || (entity.revision > 0 && sameFollowing(entity, next))) return [];
    return [{ ...entity, ...next, revision: entity.revision + 1 }];
  });
}

/** Whether two relations say the same, to the last message behind them. */
export const sameRelation = (a: Relation, b: Relation): boolean => facts(a) === facts(b);

export const sameFollowing = (a: Following, b: Following): boolean =>
  a.counts === b.counts && a.mergedInto === b.mergedInto && JSON.stringify(a.aliases) === JSON.stringify(b.aliases);

const raised = ({ revision, recordedAt }: FoldedRelation, now: Millis) => ({
  revision: revision + 1,
  recordedAt,
  updatedAt: now,
});

const facts = (one: Relation): string =>
  JSON.stringify([
    ...[one.id, one.source, one.relationship, one.destination, one.validFrom, one.invalidAt, one.endedBy],
    ...[one.saidAt.at, one.saidAt.seq, one.confirmations, one.messageIds, one.memoryIds, one.quote],
  ]);
