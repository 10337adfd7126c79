import { undosInEffect } from '../memories/former.ts';
import type { Undo } from '../ports/ledger/reviews.ts';
import type { Millis } from '../words.ts';
import { endsOf, type Following, renamed } from './fold.ts';
import type { Entity, KeptRelation, MergeProposal, NewEntity, Relation, Statement } from './words.ts';

/** What a ledger keeps of a relation beside what follows. */
export type FoldedRelation = Relation & Pick<KeptRelation, 'revision' | 'counts' | 'recordedAt' | 'updatedAt'>;
export type FoldedEntity = Pick<Entity, 'id' | 'revision'> & Following;

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
