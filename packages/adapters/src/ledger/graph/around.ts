import type { Around, KeptRelation, LaneId } from '@slowwave/engine';
import { asSnapshot } from '../access.ts';
import { all, type Script, together } from '../script.ts';
import { shownRelations } from './rows.ts';

/** Enough to tell which relations come first. */
interface Weighed {
  readonly id: string;
  readonly confirmations: number;
  readonly said_at: number;
  readonly said_seq: number;
}

export interface AroundLane extends Around {
  readonly lane: LaneId;
}

/** One statement for each entity and end: for a ledger that is asked without waiting. */
export const aroundEach = asSnapshot('graph.aroundEach', function* (of: AroundLane): Script<readonly KeptRelation[]> {
  const { lane, entities, at, limit } = of;
  const given = { lane, limit, ...(typeof at === 'number' ? { at } : {}) };
  const found = yield* together(
    ...[...new Set(entities)].flatMap((entity) =>
      ENDS.map((end) => all<Weighed>(weighed(end, '@entity', at), { ...given, entity })),
    ),
  );
  return yield* heaviest(found.flat(), limit);
});

/** One statement for all: for a ledger whose every answer is waited for. */
export const aroundAtOnce = asSnapshot('graph.aroundAtOnce', function* (of: AroundLane): Script<
  readonly KeptRelation[]
> {
  const { lane, entities, at, limit } = of;
  const given = { lane, limit, entities: [...new Set(entities)], ...(typeof at === 'number' ? { at } : {}) };
  const found = ENDS.map(
    (end) => `SELECT w.* FROM unnest(@entities::text[]) AS e (id)
      CROSS JOIN LATERAL (${weighed(end, 'e.id', at)}) AS w`,
  ).join(' UNION ALL ');
  // A relation between two of them is found at both ends.
  const text = `SELECT * FROM (${found}) AS f ${BY_WEIGHT} LIMIT 2 * @limit::bigint`;
  return yield* heaviest(yield* all<Weighed>(text, given), limit);
});

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
  ${BY_WEIGHT} LIMIT @limit`;

const BY_WEIGHT = 'ORDER BY confirmations DESC, said_at DESC, said_seq DESC, id';

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
