import { type MemoryChange, memoryNotices, type TenantId, type Tombstone } from '@slowwave/engine';
import { activeWebhooks, noteDeliveries } from '../../../ledger/deliveries.ts';
import { eventColumns } from '../../../ledger/rows/event.ts';
import { memoryColumns, versionColumns } from '../../../ledger/rows/memory.ts';
import { forgetSummaries } from '../../../ledger/summaries.ts';
import { insertRows } from '../insert.ts';
import { standingLanes } from '../read/erasures.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';
import { EVENTS, MEMORIES, OUTBOX, VERSIONS } from './change-tables.ts';
import { openScopes } from './scopes.ts';

/** Memories that do not stand at the revision their change expects, or belong to another tenant. */
export async function conflicts(
  sql: Sql,
  tenant: TenantId,
  changes: readonly MemoryChange[],
): Promise<readonly string[]> {
  const ids = changes.map(({ memory }) => memory.id);
  const rows = await sql.all<StandingRow>(SELECT_STANDING, { ids });
  const standing = new Map(rows.map((row) => [row.id, row]));
  const lanes = await standingLanes(
    sql,
    changes.map(({ memory }) => memory.lane),
  );
  const stands = ({ memory, expectedRevision }: MemoryChange): boolean => {
    if (!lanes.has(memory.lane)) return false; // its owner is being erased
    const row = standing.get(memory.id);
    if (row === undefined) return expectedRevision === 0;
    return row.tenant === tenant && row.revision === expectedRevision;
  };
  return changes.filter((change) => !stands(change)).map(({ memory }) => memory.id);
}

export interface ChangeBy {
  readonly tenant: TenantId;
  readonly consolidationId: string | null;
  readonly now: number;
}

/**
 * Writes changed memories, their new events and tombstones, and tells the index through the outbox. Needs the locks
 * of the memories' lanes.
 */
export async function writeChanges(
  sql: Sql,
  { changes, tombstones }: { changes: readonly MemoryChange[]; tombstones: readonly Tombstone[] },
  by: ChangeBy,
): Promise<void> {
  if (changes.length > 0) {
    await writeMemories(sql, changes, by.tenant);
    await writeEvents(sql, changes, by.tenant);
    await tellIndex(sql, changes, by);
    const webhooks = await runScript(sql, activeWebhooks(by.tenant));
    if (webhooks.length > 0) await runScript(sql, noteDeliveries(webhooks, memoryNotices(changes)));
  }
  for (const { memoryId, textHash, deletedAt } of tombstones) {
    await sql.run(UPSERT_TOMBSTONE, { memoryId, textHash, tenant: by.tenant, at: deletedAt.at, seq: deletedAt.seq });
  }
}

export async function writeMemories(sql: Sql, changes: readonly MemoryChange[], tenant: TenantId): Promise<void> {
  const memories = changes.map(({ memory }) => memory);
  const scopeOf = await openScopes(sql, memories);
  await insertRows(
    sql,
    MEMORIES,
    memories.map((memory) => memoryColumns(memory, { tenant, scope: scopeOf(memory) })),
  );
  // What was said late can change, join or part the versions there were.
  await sql.run('DELETE FROM versions WHERE memory_id = ANY(@ids::text[])', { ids: memories.map(({ id }) => id) });
  const versions = memories.flatMap(({ id, versions }) => versions.map((version) => versionColumns(id, version)));
  await insertRows(sql, VERSIONS, versions);
}

async function writeEvents(sql: Sql, changes: readonly MemoryChange[], tenant: TenantId): Promise<void> {
  const events = changes.flatMap((change) => change.events);
  await insertRows(
    sql,
    EVENTS,
    events.map((event) => eventColumns(event, tenant)),
  );
  const sources = events.flatMap(({ id, sourceIds }) => [...new Set(sourceIds)].map((source) => ({ id, source })));
  if (sources.length === 0) return;
  await sql.run(INSERT_EVENT_SOURCES, {
    ids: sources.map(({ id }) => id),
    messageIds: sources.map(({ source }) => source),
  });
}

export async function tellIndex(sql: Sql, changes: readonly MemoryChange[], by: ChangeBy): Promise<void> {
  const { tenant, consolidationId, now } = by;
  await insertRows(
    sql,
    OUTBOX,
    changes.map(({ memory }) => ({
      memory_id: memory.id,
      lane: memory.lane,
      tenant,
      consolidation_id: consolidationId,
    })),
  );
  await sql.run(TOUCH_LANES, { lanes: changes.map(({ memory }) => memory.lane), now });
  const deletedIn = changes.filter(({ events }) => events.some((event) => event.kind === 'DELETE'));
  for (const lane of new Set(deletedIn.map(({ memory }) => memory.lane))) await runScript(sql, forgetSummaries(lane));
}

interface StandingRow {
  readonly id: string;
  readonly tenant: string;
  readonly revision: number;
}

const SELECT_STANDING = 'SELECT id, tenant, revision FROM memories WHERE id = ANY(@ids::text[])';

const INSERT_EVENT_SOURCES = `
  INSERT INTO event_sources (message_id, event_seq)
  SELECT n.message_id, e.seq FROM unnest(@ids::text[], @messageIds::text[]) AS n (id, message_id)
  JOIN events e ON e.id = n.id`;

const TOUCH_LANES = 'UPDATE lanes SET updated_at = greatest(updated_at, @now) WHERE id = ANY(@lanes::text[])';

/** A text deleted twice from one memory is blocked up to the later deletion. */
const UPSERT_TOMBSTONE = `
  INSERT INTO tombstones (lane, text_hash, memory_id, deleted_at, deleted_seq)
  SELECT lane, @textHash, id, @at, @seq FROM memories WHERE id = @memoryId AND tenant = @tenant
  ON CONFLICT (lane, text_hash, memory_id) DO UPDATE SET
    deleted_at = excluded.deleted_at, deleted_seq = excluded.deleted_seq
  WHERE (excluded.deleted_at, excluded.deleted_seq) > (tombstones.deleted_at, tombstones.deleted_seq)`;
