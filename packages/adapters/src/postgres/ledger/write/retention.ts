import type { TenantId } from '@slowwave/engine';
import { PICK_MESSAGES, PICK_PLANS, REMOVED_CONTENT } from '../../../ledger/retaining.ts';
import type { Sql } from '../sql.ts';

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
  await sql.run(`UPDATE batches SET stripped_at = @now, metadata = '{}' WHERE id = ANY(@ids::text[])`, { ids, now });
  return ids.length;
}

export async function removePlans(sql: Sql, { now, ...which }: Removal): Promise<number> {
  const ids = await pick(sql, `${PICK_PLANS} FOR UPDATE SKIP LOCKED`, which);
  for (const table of ['answers', 'plans']) {
    await sql.run(`DELETE FROM ${table} WHERE consolidation_id = ANY(@ids::text[])`, { ids });
  }
  const text = 'UPDATE consolidations SET stripped_at = @now, summary = NULL WHERE id = ANY(@ids::text[])';
  await sql.run(text, { ids, now });
  return ids.length;
}

/** What another sweep has just taken is left to it. */
async function pick(sql: Sql, text: string, which: Omit<Removal, 'now'>): Promise<readonly string[]> {
  return (await sql.all<{ id: string }>(text, which)).map(({ id }) => id);
}
