/**
 * One kind of row of a lane, and what hangs on it. `:ids` are the rows that were picked; of rows without an id of their
 * own, where they lie.
 */
interface Erasing {
  /** Picks the next rows, as `id`. */
  readonly pick: string;
  /** What is done first: rows that stay forget what they tell of those that go. */
  readonly changes?: readonly string[];
  /** Table and condition, in the order in which they may go. */
  readonly deletes: readonly (readonly [table: string, condition: string])[];
}

/** Any of the lane, as an index brings them: sorting would read all that is left for each slice. */
const pick = (table: string, id = 'id'): string => `SELECT ${id} AS id FROM ${table} WHERE lane = @lane LIMIT @limit`;

/** Of rows without an id. */
const pickPlaces = (table: string): string => pick(table, 'CAST(:place AS text)');

/** Not by the place alone, which another row may have by now; and by no index of lanes, which would find all that is left. */
const AT_PLACES = ":place IN :ids::tid AND lane || '' = @lane";

/** Everything that carries a lane, in the order in which it goes: nothing refers to what is gone. */
export const ERASING: readonly Erasing[] = [
  { pick: pick('webhook_deliveries'), deletes: [['webhook_deliveries', 'id IN :ids']] },
  { pick: pick('graph_relations'), deletes: [['graph_relations', 'id IN :ids']] },
  { pick: pick('graph_statements'), deletes: [['graph_statements', 'id IN :ids']] },
  {
    pick: pick('graph_entities'),
    deletes: [
      ['graph_names', 'entity IN :ids'],
      ['graph_entities', 'id IN :ids'],
    ],
  },
  { pick: pick('graph_turns', 'lane'), deletes: [['graph_turns', 'lane = @lane AND lane IN :ids']] },
  {
    pick: pick('memories'),
    deletes: [
      ['event_sources', 'event_seq IN (SELECT seq FROM events WHERE memory_id IN :ids)'],
      ['events', 'memory_id IN :ids'],
      ['versions', 'memory_id IN :ids'],
      ['memory_ids', 'memory_id IN :ids'],
      ['tombstones', 'memory_id IN :ids'],
      ['outbox', 'memory_id IN :ids'],
      ['memories', 'id IN :ids'],
    ],
  },
  {
    pick: pick('consolidations'),
    deletes: [
      ['graph_proposals', 'consolidation_id IN :ids'],
      ['graph_studies', 'consolidation_id IN :ids'],
      ['answers', 'consolidation_id IN :ids'],
      ['plans', 'consolidation_id IN :ids'],
      ['reviews', 'consolidation_id IN :ids'],
      ['usage', 'consolidation_id IN :ids'],
      ['consolidations', 'id IN :ids'],
    ],
  },
  {
    pick: pick('batches'),
    changes: [
      `UPDATE replays SET result = NULL,
         due_at = CASE WHEN kind = 'what_if' AND state <> 'discarded' THEN 0 ELSE due_at END,
         state = CASE WHEN kind = 'what_if' AND state <> 'discarded' THEN 'discarding' ELSE state END
       WHERE id IN (SELECT replay_id FROM replay_batches WHERE batch_id IN :ids)`,
    ],
    deletes: [
      ['replay_batches', 'batch_id IN :ids'],
      ['messages', 'batch_id IN :ids'],
      ['idempotency_keys', 'batch_id IN :ids'],
      ['batches', 'id IN :ids'],
    ],
  },
  { pick: pickPlaces('vectors'), deletes: [['vectors', AT_PLACES]] },
  { pick: pickPlaces('usage'), deletes: [['usage', AT_PLACES]] },
  { pick: pick('unprojected_lanes', 'lane'), deletes: [['unprojected_lanes', 'lane = @lane AND lane IN :ids']] },
  { pick: pick('undos'), deletes: [['undos', 'id IN :ids']] },
  { pick: pickPlaces('scopes'), deletes: [['scopes', AT_PLACES]] },
];

/** Tables of the ledger whose rows an erasure does not delete: they say nothing of an owner, or forget it. */
export const KEPT = [
  'meta',
  'settings',
  'ceilings',
  'counters',
  'usage_days',
  'erasures',
  'replays',
  'api_keys',
  'webhooks',
  'trail',
] as const;

/** No caller can choose such an id: it begins with a control character. It is unique, like the erasure. */
export const cutOffOwner = (erasureId: string): string => `\u0001${erasureId}`;
