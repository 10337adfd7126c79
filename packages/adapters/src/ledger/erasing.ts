import type { Erasure, ErasureState, LaneId, OwnerKind, TenantId } from '@slowwave/engine';

/**
 * One kind of row of a lane, and what hangs on it. `:ids` stands for the rows that were picked. Where a row has no id of its own it is
 * `:place` that is picked, where it lies, and `:places` stands for those.
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

/**
 * Everything that carries a lane, in the order in which it goes: nothing refers to what is gone. Written so that SQLite
 * and PostgreSQL both read it.
 */
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
  { pick: pick('vectors', ':place'), deletes: [['vectors', ':places']] },
  { pick: pick('usage', ':place'), deletes: [['usage', ':places']] },
  { pick: pick('untold_lanes', 'lane'), deletes: [['untold_lanes', 'lane = @lane AND lane IN :ids']] },
  { pick: pick('undos'), deletes: [['undos', 'id IN :ids']] },
  { pick: pick('scopes', ':place'), deletes: [['scopes', ':places']] },
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

export interface ErasureRow {
  readonly id: string;
  readonly tenant: TenantId;
  readonly owner_kind: OwnerKind | null;
  readonly owner_id: string | null;
  readonly owner_hash: string;
  readonly lane: LaneId | null;
  readonly state: ErasureState;
  readonly counts: string;
  readonly remains: string;
  readonly requested_at: number;
  readonly erased_at: number | null;
}

export const erasureFrom = (row: ErasureRow): Erasure => ({
  id: row.id,
  tenant: row.tenant,
  owner: row.owner_kind === null || row.owner_id === null ? null : { kind: row.owner_kind, id: row.owner_id },
  ownerHash: row.owner_hash,
  lane: row.lane,
  state: row.state,
  counts: JSON.parse(row.counts),
  remains: JSON.parse(row.remains),
  requestedAt: row.requested_at,
  erasedAt: row.erased_at,
});

/** The counts with those of one slice added. */
export function addCounts(counts: Erasure['counts'], gone: readonly (readonly [string, number])[]): Erasure['counts'] {
  const sum: Record<string, number> = { ...counts };
  for (const [table, rows] of gone) if (rows > 0) sum[table] = (sum[table] ?? 0) + rows;
  return sum;
}
