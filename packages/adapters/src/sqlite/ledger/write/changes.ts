import type { Memory, MemoryChange, MemoryEvent, TenantId, Tombstone } from '@slowwave/engine';
import { memoryNotices } from '@slowwave/engine/storing';
import { activeWebhooks, noteDeliveries } from '../../../ledger/deliveries.ts';
import { eventColumns } from '../../../ledger/rows/event.ts';
import { memoryColumns, versionColumns } from '../../../ledger/rows/memory.ts';
import { forgetSummaries } from '../../../ledger/summaries.ts';
import { isStanding } from '../read/erasures.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';
import { openScope } from './scopes.ts';

/** Memories that do not stand at the revision their change expects, or belong to another tenant. */
export function conflicts(sql: Sql, tenant: TenantId, changes: readonly MemoryChange[]): readonly string[] {
  return changes.filter((change) => !standsAt(sql, tenant, change)).map((change) => change.memory.id);
}

/** Writes changed memories, their new events and tombstones, and tells the index through the outbox. */
export function writeChanges(
  sql: Sql,
  { changes, tombstones }: { changes: readonly MemoryChange[]; tombstones: readonly Tombstone[] },
  by: { tenant: TenantId; consolidationId: string | null; now: number },
): void {
  for (const { memory, events } of changes) {
    upsertMemory(sql, memory, by.tenant);
    for (const event of events) insertEvent(sql, event, by.tenant);
    const { id: memoryId, lane } = memory;
    sql.run(INSERT_OUTBOX, { memoryId, lane, tenant: by.tenant, consolidationId: by.consolidationId });
    sql.run(TOUCH_LANE, { lane, now: by.now });
  }
  for (const tombstone of tombstones) insertTombstone(sql, tombstone, by.tenant);
  if (changes.length > 0) {
    const webhooks = runScript(sql, activeWebhooks(by.tenant));
    if (webhooks.length > 0) runScript(sql, noteDeliveries(webhooks, memoryNotices(changes)));
  }
  const deletedIn = changes.filter(({ events }) => events.some((event) => event.kind === 'DELETE'));
  for (const lane of new Set(deletedIn.map(({ memory }) => memory.lane))) runScript(sql, forgetSummaries(lane));
}

function standsAt(sql: Sql, tenant: TenantId, { memory, expectedRevision }: MemoryChange): boolean {
  if (!isStanding(sql, memory.lane)) return false; // its owner is being erased
  const row = sql.get<{ tenant: string; revision: number }>('SELECT tenant, revision FROM memories WHERE id = @id', {
    id: memory.id,
  });
  if (row === null) return expectedRevision === 0;
  return row.tenant === tenant && row.revision === expectedRevision;
}

export function upsertMemory(sql: Sql, memory: Memory, tenant: TenantId): void {
  const scope = openScope(sql, memory.lane, memory.scope);
  sql.run(UPSERT_MEMORY, memoryColumns(memory, { tenant, scope }));
  // What was said late can change, join or part the versions there were.
  sql.run('DELETE FROM versions WHERE memory_id = @id', { id: memory.id });
  for (const version of memory.versions) sql.run(INSERT_VERSION, { ...versionColumns(memory.id, version) });
}

function insertEvent(sql: Sql, event: MemoryEvent, tenant: TenantId): void {
  sql.run(INSERT_EVENT, eventColumns(event, tenant));
  for (const messageId of event.sourceIds) sql.run(INSERT_EVENT_SOURCE, { messageId, id: event.id });
}

function insertTombstone(sql: Sql, { memoryId, textHash, deletedAt }: Tombstone, tenant: TenantId): void {
  sql.run(UPSERT_TOMBSTONE, { memoryId, textHash, tenant, at: deletedAt.at, seq: deletedAt.seq });
}

const UPSERT_MEMORY = `
  INSERT INTO memories (
    id, tenant, lane, scope, timeline, confirmations, last_confirmed_at, revision, version_count, live, expires_at,
    history_from, profile_rank, created_at, updated_at
  ) VALUES (
    @id, @tenant, @lane, @scope, @timeline, @confirmations, @last_confirmed_at, @revision, @version_count, @live,
    @expires_at, @history_from, @profile_rank, @created_at, @updated_at
  ) ON CONFLICT (id) DO UPDATE SET
    scope = excluded.scope, timeline = excluded.timeline, confirmations = excluded.confirmations,
    last_confirmed_at = excluded.last_confirmed_at, revision = excluded.revision,
    version_count = excluded.version_count, live = excluded.live, expires_at = excluded.expires_at,
    history_from = excluded.history_from, profile_rank = excluded.profile_rank, updated_at = excluded.updated_at`;

const INSERT_VERSION = `
  INSERT INTO versions (
    memory_id, number, text, said_at, said_seq, valid_from, invalid_at, superseded_by, details, recorded_at
  ) VALUES (
    @memory_id, @number, @text, @said_at, @said_seq, @valid_from, @invalid_at, @superseded_by, @details, @recorded_at
  )`;

const INSERT_EVENT = `
  INSERT INTO events (
    id, tenant, memory_id, revision, kind, actor, consolidation_id, fact_id, reason, previous, previous_hash, said_at,
    said_seq, valid_from, recorded_at, text, details, source_ids, undo_id, retracts
  ) VALUES (
    @id, @tenant, @memory_id, @revision, @kind, @actor, @consolidation_id, @fact_id, @reason, @previous, @previous_hash, @said_at,
    @said_seq, @valid_from, @recorded_at, @text, @details, @source_ids,
    @undo_id, @retracts
  )`;

const INSERT_EVENT_SOURCE = `
  INSERT INTO event_sources (message_id, event_seq) SELECT @messageId, seq FROM events WHERE id = @id
  ON CONFLICT DO NOTHING`;

export const INSERT_OUTBOX = `
  INSERT INTO outbox (memory_id, tenant, lane, consolidation_id) VALUES (@memoryId, @tenant, @lane, @consolidationId)`;

const TOUCH_LANE = 'UPDATE lanes SET updated_at = max(updated_at, @now) WHERE id = @lane';

/** A text deleted twice from one memory is blocked up to the later deletion. */
const UPSERT_TOMBSTONE = `
  INSERT INTO tombstones (lane, text_hash, memory_id, deleted_at, deleted_seq)
  SELECT lane, @textHash, id, @at, @seq FROM memories WHERE id = @memoryId AND tenant = @tenant
  ON CONFLICT (lane, text_hash, memory_id) DO UPDATE SET
    deleted_at = excluded.deleted_at, deleted_seq = excluded.deleted_seq
  WHERE (excluded.deleted_at, excluded.deleted_seq) > (tombstones.deleted_at, tombstones.deleted_seq)`;
