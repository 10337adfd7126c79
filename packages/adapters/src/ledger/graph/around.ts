import type { Around, KeptRelation, LaneId } from '@slowwave/engine';
import { all, type Script } from '../script.ts';
import { shownRelations } from './rows.ts';

/** Enough to tell which relations come first. */
interface Weighed {
  readonly id: string;
  readonly confirmations: number;
  readonly said_at: number;
  readonly said_seq: number;
}

/** One statement for each entity and end: for a ledger that is asked without waiting. */
export function* aroundEach(lane: LaneId, { entities, at, limit }: Around): Script<readonly KeptRelation[]> {
  const found: Weighed[] = [];
  const params = { lane, limit, ...(typeof at === 'number' ? { at } : {}) };
  for (const entity of new Set(entities)) {
    for (const end of ENDS) found.push(...(yield* all<Weighed>(weighed(end, '@entity', at), { ...params, entity })));
  }
  return yield* heaviest(found, limit);
}

/** One statement for all: for a ledger whose every answer is waited for. */
export function* aroundAtOnce(lane: LaneId, { entities, at, limit }: Around): Script<readonly KeptRelation[]> {
  const params = { lane, limit, entities: [...new Set(entities)], ...(typeof at === 'number' ? { at } : {}) };
  const text = ENDS.map(
    (end) => `SELECT w.* FROM unnest(@entities::text[]) AS e (id)
      CROSS JOIN LATERAL (${weighed(end, 'e.id', at)}) AS w`,
  );
  return yield* heaviest(yield* all<Weighed>(text.join(' UNION ALL '), params), limit);
}

/** Whether a relation `r` holds at a moment. */
export function heldAt(at: Around['at']): string | null {
  if (at === 'ever') return null;
  return at === null ? 'r.invalid_at IS NULL' : 'r.valid_from <= @at AND (r.invalid_at IS NULL OR r.invalid_at > @at)';
}

const ENDS = ['source', 'destination'] as const;

/** The first of one entity, by the index of that end. */
const weighed = (end: (typeof ENDS)[number], entity: string, at: Around['at']): string => `
  SELECT r.id, r.confirmations, r.said_at, r.said_seq FROM graph_relations r
  WHERE r.lane = @lane AND r.${end} = ${entity} AND r.counts = 1 AND ${heldAt(at) ?? 'true'}
  ORDER BY r.confirmations DESC, r.said_at DESC, r.said_seq DESC, r.id LIMIT @limit`;

function* heaviest(found: readonly Weighed[], limit: number): Script<readonly KeptRelation[]> {
  const each = new Map(found.map((one) => [one.id, one]));
  const ids = [...each.values()]
    .sort(byWeight)
    .slice(0, limit)
    .map(({ id }) => id);
  return yield* shownRelations(ids);
}

const byWeight = (a: Weighed, b: Weighed): number =>
  b.confirmations - a.confirmations || b.said_at - a.said_at || b.said_seq - a.said_seq || (a.id < b.id ? -1 : 1);
