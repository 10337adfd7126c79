import type { Message, TenantId } from '@slowwave/engine';
import { isStanding } from '../../../ledger/page.ts';
import { type MessageRow, messageFrom } from '../../../ledger/rows/message.ts';
import type { Sql } from '../sql.ts';

/** The messages a memory's versions came from, with their neighbours in the lane, in lane order. */
export async function sourcesOf(
  sql: Sql,
  { tenant, id, before, after }: { tenant: TenantId; id: string; before: number; after: number },
): Promise<readonly { message: Message; isSource: boolean }[]> {
  const rows = await sql.all<MessageRow & { is_source: 0 | 1 }>(SELECT_SOURCES, { tenant, id, before, after });
  return rows.map((row) => ({ message: messageFrom(row), isSource: row.is_source === 1 }));
}

export async function messagesById(
  sql: Sql,
  tenant: TenantId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Message>> {
  const text = `SELECT * FROM messages WHERE tenant = @tenant AND ${isStanding('lane')} AND id = ANY(@ids::text[])`;
  const rows = await sql.all<MessageRow>(text, { tenant, ids });
  return new Map(rows.map((row) => [row.id, messageFrom(row)]));
}

/** A source named in another lane is none: what another lane was told is another owner's. */
const SELECT_SOURCES = `
  WITH sources AS (
    SELECT DISTINCT m.id, m.lane, m.seq
    FROM memories me
    JOIN versions v ON v.memory_id = me.id
    CROSS JOIN LATERAL jsonb_array_elements_text(v.details->'sourceIds') AS s (id)
    JOIN messages m ON m.id = s.id AND m.tenant = @tenant AND m.lane = me.lane
    WHERE me.tenant = @tenant AND me.id = @id AND ${isStanding('me.lane')}
  )
  SELECT m.*, bool_or(m.id = s.id) AS is_source
  FROM sources s
  JOIN messages m ON m.lane = s.lane AND m.seq BETWEEN s.seq - @before AND s.seq + @after
  GROUP BY m.id ORDER BY m.seq`;
