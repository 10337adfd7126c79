import type { HistoryRemoval, TenantId } from '@slowwave/engine';
import { isTelling } from '@slowwave/engine/storing';
import { conflicts, queueForIndex, writeMemories } from '../../../ledger/changes.ts';
import { PICK_MESSAGES, PICK_PLANS, REMOVED_CONTENT } from '../../../ledger/retaining.ts';
import { eventColumns } from '../../../ledger/rows/event.ts';
import { REVISE, tellHearers } from '../../../ledger/speech.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';

export interface Removal {
  readonly tenant: TenantId;
  readonly before: number;
  readonly limit: number;
  readonly now: number;
}

export function removeMessages(sql: Sql, { now, ...which }: Removal): number {
  const picked = sql.all<{ id: string }>(PICK_MESSAGES, { ...which });
  const ids = JSON.stringify(picked.map(({ id }) => id));
  sql.run(`UPDATE messages SET content = @content, name = NULL WHERE batch_id IN ${IDS}`, {
    ids,
    content: REMOVED_CONTENT,
  });
  sql.run(`UPDATE batches SET stripped_at = @now, metadata = '{}', ${REVISE} WHERE id IN ${IDS}`, { ids, now });
  runScript(sql, tellHearers(picked.map(({ id }) => id)));
  return picked.length;
}

export function removePlans(sql: Sql, { now, ...which }: Removal): number {
  const picked = sql.all<{ id: string }>(PICK_PLANS, { ...which });
  const ids = JSON.stringify(picked.map(({ id }) => id));
  for (const table of ['answers', 'plans']) sql.run(`DELETE FROM ${table} WHERE consolidation_id IN ${IDS}`, { ids });
  sql.run(`UPDATE graph_studies SET plan = NULL WHERE consolidation_id IN ${IDS}`, { ids });
  sql.run(`UPDATE consolidations SET stripped_at = @now, summary = NULL WHERE id IN ${IDS}`, { ids, now });
  return picked.length;
}

export function removeHistories(
  sql: Sql,
  { tenant, removals }: { tenant: TenantId; removals: readonly HistoryRemoval[] },
): number {
  const changes = removals.map(({ memory }) => ({ memory, expectedRevision: memory.revision, events: [] }));
  const changed = new Set(runScript(sql, conflicts(tenant, changes)));
  const standing = removals.filter(({ memory }) => !changed.has(memory.id));
  for (const removal of standing) {
    const { memory, events, textHashes } = removal;
    const { lane } = memory;
    const change = { memory, expectedRevision: memory.revision, events: [] };
    runScript(sql, writeMemories([change], tenant));
    for (const event of events) {
      const { id, reason, text, details, previous, previous_hash } = eventColumns(event, tenant);
      sql.run(EMPTY_EVENT, { id, tenant, reason, text, details, previous, previous_hash });
    }
    sql.run(`DELETE FROM vectors WHERE lane = @lane AND text_hash IN ${IDS}`, {
      lane,
      ids: JSON.stringify(textHashes),
    });
    if (isTelling(removal)) runScript(sql, queueForIndex([change], { tenant, consolidationId: null, now: 0 }));
  }
  return standing.length;
}

const EMPTY_EVENT = `
  UPDATE events SET
    reason = @reason, text = @text, details = @details, previous = @previous, previous_hash = @previous_hash
  WHERE id = @id AND tenant = @tenant`;

const IDS = '(SELECT value FROM json_each(@ids))';
