import { type HistoryRemoval, isTelling, type MemoryEvent, type TenantId } from '@slowwave/engine';
import { conflicts, queueForIndex, writeMemories } from '../../../ledger/changes.ts';
import { PICK_MESSAGES, PICK_PLANS, REMOVED_CONTENT } from '../../../ledger/retaining.ts';
import { eventColumns } from '../../../ledger/rows/event.ts';
import { REVISE, tellHearers } from '../../../ledger/speech.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';
import { lockLanes } from './lanes.ts';

export interface Removal {
  readonly tenant: TenantId;
  readonly before: number;
  readonly limit: number;
  readonly now: number;
}

export async function removeMessages(sql: Sql, { now, ...which }: Removal): Promise<number> {
  const ids = await pick(sql, `${PICK_MESSAGES} FOR UPDATE SKIP LOCKED`, which);
  const content = `UPDATE messages SET content = @content::jsonb, name = NULL WHERE batch_id = ANY(@ids::text[])`;
  await sql.run(content, { ids, content: REMOVED_CONTENT });
  await sql.run(`UPDATE batches SET stripped_at = @now, metadata = '{}', ${REVISE} WHERE id = ANY(@ids::text[])`, {
    ids,
    now,
  });
  await runScript(sql, tellHearers(ids));
  return ids.length;
}

export async function removePlans(sql: Sql, { now, ...which }: Removal): Promise<number> {
  const ids = await pick(sql, `${PICK_PLANS} FOR UPDATE SKIP LOCKED`, which);
  for (const table of ['answers', 'plans']) {
    await sql.run(`DELETE FROM ${table} WHERE consolidation_id = ANY(@ids::text[])`, { ids });
  }
  await sql.run('UPDATE graph_studies SET plan = NULL WHERE consolidation_id = ANY(@ids::text[])', { ids });
  const text = 'UPDATE consolidations SET stripped_at = @now, summary = NULL WHERE id = ANY(@ids::text[])';
  await sql.run(text, { ids, now });
  return ids.length;
}

/** What another sweep has just taken is left to it. */
async function pick(sql: Sql, text: string, which: Omit<Removal, 'now'>): Promise<readonly string[]> {
  return (await sql.all<{ id: string }>(text, which)).map(({ id }) => id);
}

export async function removeHistories(
  sql: Sql,
  { tenant, removals }: { tenant: TenantId; removals: readonly HistoryRemoval[] },
): Promise<number> {
  await lockLanes(
    sql,
    removals.map(({ memory }) => memory.lane),
  );
  const all = removals.map((removal) => ({ ...removal, expectedRevision: removal.memory.revision }));
  const changed = new Set(await runScript(sql, conflicts(tenant, all)));
  const standing = all.filter(({ memory }) => !changed.has(memory.id));
  if (standing.length === 0) return 0;
  await runScript(sql, writeMemories(standing, tenant));
  await emptyEvents(
    sql,
    standing.flatMap(({ events }) => events),
    tenant,
  );
  const gone = standing.flatMap(({ memory, textHashes }) => textHashes.map((hash) => ({ lane: memory.lane, hash })));
  await sql.run(DELETE_VECTORS, { lanes: gone.map(({ lane }) => lane), hashes: gone.map(({ hash }) => hash) });
  const told = standing.filter(isTelling).map((change) => ({ ...change, events: [] }));
  await runScript(sql, queueForIndex(told, { tenant, consolidationId: null, now: 0 }));
  return standing.length;
}

async function emptyEvents(sql: Sql, events: readonly MemoryEvent[], tenant: TenantId): Promise<void> {
  const rows = events.map((event) => eventColumns(event, tenant));
  await sql.run(EMPTY_EVENTS, {
    tenant,
    ids: rows.map(({ id }) => id),
    reasons: rows.map(({ reason }) => reason),
    texts: rows.map(({ text }) => text),
    details: rows.map(({ details }) => details),
    previous: rows.map(({ previous }) => previous),
    hashes: rows.map(({ previous_hash }) => previous_hash),
  });
}

const EMPTY_EVENTS = `
  UPDATE events e SET
    reason = n.reason, text = n.text, details = n.details, previous = n.previous, previous_hash = n.previous_hash
  FROM unnest(
    @ids::text[], @reasons::text[], @texts::text[], @details::jsonb[], @previous::text[], @hashes::text[]
  ) AS n (id, reason, text, details, previous, previous_hash)
  WHERE e.id = n.id AND e.tenant = @tenant`;

const DELETE_VECTORS = `
  DELETE FROM vectors v USING unnest(@lanes::text[], @hashes::text[]) AS n (lane, text_hash)
  WHERE v.lane = n.lane AND v.text_hash = n.text_hash`;
