import type { Millis } from '../words.ts';
import type { Following, Standing } from './fold.ts';
import type { Entity, KeptRelation, Relation } from './words.ts';

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
