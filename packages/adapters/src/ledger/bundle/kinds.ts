import type { Value } from '../script.ts';

/** A kind of thing that travels with its owner: the rows of a table. */
export interface Kind {
  /** How lines call it. */
  readonly type: string;
  readonly table: string;
  /** Where its rows `x` are found, with a condition on @lane. */
  readonly from: string;
  /** By what they are in order, which is how they are stored again. */
  readonly order: readonly [string, ...string[]];
  /** What belongs to a ledger and its index: it stays, and this stands there in the other one. */
  readonly own?: Readonly<Record<string, Value>>;
  /** The row that it hangs on, which is of the same lane. */
  readonly parent?: { readonly column: string; readonly table: string };
  /** What stands behind the insert. */
  readonly onConflict?: string;
}

const ofLane = (table: string): string => `${table} x WHERE x.lane = @lane`;
const ofMemories = (table: string): string => `memories p JOIN ${table} x ON x.memory_id = p.id WHERE p.lane = @lane`;
const ofConsolidations = (table: string): string =>
  `consolidations p JOIN ${table} x ON x.consolidation_id = p.id WHERE p.lane = @lane`;

const OF_MEMORY = { column: 'memory_id', table: 'memories' } as const;
const OF_CONSOLIDATION = { column: 'consolidation_id', table: 'consolidations' } as const;
const OF_BATCH = { column: 'batch_id', table: 'batches' } as const;

/** What the index has of a batch: nothing yet. */
const UNTOLD = { speech_revision: 0, speech_revised_at: null, projected_revision: 0, points: 0 } as const;
const UNPROJECTED = { revision: 0, unprojected_at: null } as const;

/** In the order in which they refer to each other. Scopes and events are read in ways of their own. */
export const KINDS: readonly Kind[] = [
  { type: 'scope', table: 'scopes', from: ofLane('scopes'), order: ['x.id'] },
  { type: 'batch', table: 'batches', from: ofLane('batches'), order: ['x.position'], own: UNTOLD },
  { type: 'message', table: 'messages', from: ofLane('messages'), order: ['x.seq'], parent: OF_BATCH },
  {
    ...{ type: 'key', table: 'idempotency_keys', parent: OF_BATCH },
    from: 'batches p JOIN idempotency_keys x ON x.batch_id = p.id WHERE p.lane = @lane',
    order: ['p.position', 'x.key'],
    // Somebody has posted the same here in the meantime.
    onConflict: 'ON CONFLICT (tenant, key) DO NOTHING',
  },
  {
    ...{ type: 'consolidation', table: 'consolidations', from: ofLane('consolidations') },
    order: ['x.created_at', 'x.id'],
  },
  {
    ...{ type: 'answer', table: 'answers', from: ofConsolidations('answers'), parent: OF_CONSOLIDATION },
    order: ['p.created_at', 'p.id', 'x.seq'],
  },
  {
    ...{ type: 'plan', table: 'plans', from: ofConsolidations('plans'), parent: OF_CONSOLIDATION },
    order: ['p.created_at', 'p.id', 'x.round'],
  },
  {
    ...{ type: 'night', table: 'nights', from: ofLane('nights'), parent: OF_CONSOLIDATION },
    order: ['x.created_at', 'x.consolidation_id'],
  },
  { type: 'memory', table: 'memories', from: ofLane('memories'), order: ['x.id'] },
  {
    ...{ type: 'version', table: 'versions', from: ofMemories('versions'), parent: OF_MEMORY },
    order: ['p.id', 'x.number'],
  },
  {
    ...{ type: 'said_under', table: 'memory_ids', from: ofMemories('memory_ids'), parent: OF_MEMORY },
    order: ['p.id', 'x.kind', 'x.id'],
  },
  {
    ...{ type: 'tombstone', table: 'tombstones', from: ofLane('tombstones'), parent: OF_MEMORY },
    order: ['x.text_hash', 'x.memory_id'],
  },
  {
    ...{ type: 'event', table: 'events', parent: OF_MEMORY },
    // All of a lane is sorted for each page; of what it says only a page is read.
    from: `events x WHERE x.seq IN FEW (
      SELECT e.seq FROM memories p JOIN events e ON e.memory_id = p.id
      WHERE p.lane = @lane AND e.seq > @after0 ORDER BY e.seq LIMIT @limit;)`,
    order: ['x.seq'],
  },
  {
    ...{ type: 'credit', table: 'credits', from: ofMemories('credits'), parent: OF_MEMORY },
    order: ['p.id', 'x.version'],
  },
  {
    ...{ type: 'wish', table: 'wishes', from: ofConsolidations('wishes'), parent: OF_CONSOLIDATION },
    order: ['p.created_at', 'p.id', 'x.number'],
  },
  { type: 'review', table: 'reviews', from: ofLane('reviews'), order: ['x.created_at', 'x.id'] },
  { type: 'undo', table: 'undos', from: ofLane('undos'), order: ['x.number'] },
  { type: 'task_state', table: 'task_states', from: ofLane('task_states'), order: ['x.run_id', 'x.version'] },
  { type: 'entity', table: 'graph_entities', from: ofLane('graph_entities'), order: ['x.id'], own: UNPROJECTED },
  {
    ...{ type: 'entity_name', table: 'graph_names', from: ofLane('graph_names'), order: ['x.name', 'x.entity'] },
    parent: { column: 'entity', table: 'graph_entities' },
  },
  { type: 'statement', table: 'graph_statements', from: ofLane('graph_statements'), order: ['x.id'] },
  { type: 'relation', table: 'graph_relations', from: ofLane('graph_relations'), order: ['x.id'], own: UNPROJECTED },
  {
    ...{ type: 'study', table: 'graph_studies', from: ofLane('graph_studies'), order: ['x.seq'] },
    parent: OF_CONSOLIDATION,
  },
  {
    ...{ type: 'proposal', table: 'graph_proposals', from: ofLane('graph_proposals') },
    order: ['x.consolidation_id', 'x.source', 'x.destination'],
    parent: OF_CONSOLIDATION,
  },
  { type: 'vector', table: 'vectors', from: ofLane('vectors'), order: ['x.fingerprint', 'x.text_hash'] },
];

/** What comes of the rest, and need not be the same everywhere: the checksum before it says what an owner is. */
export const DERIVED = 'vector';

/** Columns of a lane that travel with its owner, beside its ids. */
export const LANE_COLUMNS = [
  'next_position',
  'next_seq',
  'nudged_backfill',
  'oldest_at',
  'newest_at',
  'pace_ms',
  'pauses',
  'flush_through',
  'window_limit',
  'attempts',
  'created_at',
  'updated_at',
] as const;
/** What it does, which it only goes on with when all of it is there. */
export const LIFE_COLUMNS = ['state', 'consolidation_id', 'due_at'] as const;
