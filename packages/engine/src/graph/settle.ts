import type { Millis } from '../words.ts';
import type { Following } from './follow.ts';
import type { Entity, KeptRelation, Relation } from './words.ts';

/** What a ledger keeps of a relation beside what follows. */
export type SettledRelation = Relation & Pick<KeptRelation, 'revision' | 'counts' | 'recordedAt' | 'updatedAt'>;
export type SettledEntity = Pick<Entity, 'id' | 'revision'> & Following;

/**
 * What changes so that relations are what follows. `kept` has all that counted among those that were folded again, and
 * any that was ever kept under an id of `next`. What follows no more is kept, and counts no longer.
 */
export function settleRelations(
  kept: readonly SettledRelation[],
  next: readonly Relation[],
  now: Millis,
): readonly SettledRelation[] {
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
export function settleEntities<T extends SettledEntity>(
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

const raised = ({ revision, recordedAt }: SettledRelation, now: Millis) => ({
  revision: revision + 1,
  recordedAt,
  updatedAt: now,
});

const facts = (one: Relation): string =>
  JSON.stringify([
    ...[one.id, one.source, one.relationship, one.destination, one.validFrom, one.invalidAt, one.endedBy],
    ...[one.saidAt.at, one.saidAt.seq, one.confirmations, one.messageIds, one.memoryIds, one.quote],
  ]);
