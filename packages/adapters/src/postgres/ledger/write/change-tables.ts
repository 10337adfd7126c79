import type { eventColumns } from '../../../ledger/rows/event.ts';
import type { memoryColumns, VersionRow } from '../../../ledger/rows/memory.ts';
import type { Table } from '../insert.ts';

/** The tables a change of memories writes. */
export const MEMORIES: Table<keyof ReturnType<typeof memoryColumns>> = {
  name: 'memories',
  columns: {
    id: 'text',
    tenant: 'text',
    lane: 'text',
    scope: 'bigint',
    timeline: 'jsonb',
    confirmations: 'bigint',
    last_confirmed_at: 'bigint',
    revision: 'bigint',
    version_count: 'bigint',
    live: 'boolean',
    expires_at: 'bigint',
    history_from: 'bigint',
    profile_rank: 'bigint',
    created_at: 'bigint',
    updated_at: 'bigint',
  },
  onConflict: `ON CONFLICT (id) DO UPDATE SET
    scope = excluded.scope, timeline = excluded.timeline, confirmations = excluded.confirmations,
    last_confirmed_at = excluded.last_confirmed_at, revision = excluded.revision,
    version_count = excluded.version_count, live = excluded.live, expires_at = excluded.expires_at,
    history_from = excluded.history_from, profile_rank = excluded.profile_rank, updated_at = excluded.updated_at`,
};

export const VERSIONS: Table<keyof VersionRow> = {
  name: 'versions',
  columns: {
    memory_id: 'text',
    number: 'bigint',
    text: 'text',
    said_at: 'bigint',
    said_seq: 'bigint',
    valid_from: 'bigint',
    invalid_at: 'bigint',
    superseded_by: 'bigint',
    details: 'jsonb',
    recorded_at: 'bigint',
  },
};

export const EVENTS: Table<keyof ReturnType<typeof eventColumns>> = {
  name: 'events',
  columns: {
    id: 'text',
    tenant: 'text',
    memory_id: 'text',
    revision: 'bigint',
    kind: 'text',
    actor: 'text',
    consolidation_id: 'text',
    fact_id: 'text',
    reason: 'text',
    previous: 'text',
    previous_hash: 'text',
    said_at: 'bigint',
    said_seq: 'bigint',
    valid_from: 'bigint',
    recorded_at: 'bigint',
    text: 'text',
    details: 'jsonb',
    source_ids: 'jsonb',
    undo_id: 'text',
    retracts: 'jsonb',
  },
};

export const OUTBOX: Table<'memory_id' | 'tenant' | 'lane' | 'consolidation_id'> = {
  name: 'outbox',
  columns: { memory_id: 'text', tenant: 'text', lane: 'text', consolidation_id: 'text' },
};
