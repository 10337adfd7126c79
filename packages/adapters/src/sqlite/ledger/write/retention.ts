import type { TenantId } from '@slowwave/engine';
import { PICK_MESSAGES, PICK_PLANS, REMOVED_CONTENT } from '../../../ledger/retaining.ts';
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
  sql.run(`UPDATE batches SET stripped_at = @now, metadata = '{}' WHERE id IN ${IDS}`, { ids, now });
  return picked.length;
}

export function removePlans(sql: Sql, { now, ...which }: Removal): number {
  const picked = sql.all<{ id: string }>(PICK_PLANS, { ...which });
  const ids = JSON.stringify(picked.map(({ id }) => id));
  for (const table of ['answers', 'plans']) sql.run(`DELETE FROM ${table} WHERE consolidation_id IN ${IDS}`, { ids });
  sql.run(`UPDATE consolidations SET stripped_at = @now, summary = NULL WHERE id IN ${IDS}`, { ids, now });
  return picked.length;
}

const IDS = '(SELECT value FROM json_each(@ids))';
