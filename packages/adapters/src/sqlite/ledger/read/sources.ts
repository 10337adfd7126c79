import type { Message, TenantId } from '@slowwave/engine';
import { isStanding } from '../../../ledger/page.ts';
import { type MessageRow, messageFrom } from '../../../ledger/rows/message.ts';
import type { Sql } from '../sql.ts';

/** The messages a memory's versions came from, with their neighbours in the lane, in lane order. */
export function sourcesOf(
  sql: Sql,
  { tenant, id, before, after }: { tenant: TenantId; id: string; before: number; after: number },
): readonly { message: Message; isSource: boolean }[] {
  const rows = sql.all<MessageRow & { is_source: 0 | 1 }>(SELECT_SOURCES, { tenant, id, before, after });
  return rows.map((row) => ({ message: messageFrom(row), isSource: row.is_source === 1 }));
}

export function messagesById(sql: Sql, tenant: TenantId, ids: readonly string[]): ReadonlyMap<string, Message> {
  const rows = sql.all<MessageRow>(SELECT_MESSAGES, { tenant, ids: JSON.stringify(ids) });
  return new Map(rows.map((row) => [row.id, messageFrom(row)]));
}

/**
 * A source named in another lane is none: what another lane was told is another owner's. The + keeps SQLite from
 * looking through the whole lane for it.
 */
const SELECT_SOURCES = `
  WITH sources AS (
    SELECT DISTINCT m.id, m.lane, m.seq
    FROM memories me
    JOIN versions v ON v.memory_id = me.id
    JOIN json_each(v.details, '$.sourceIds') s
    JOIN messages m ON m.id = s.value AND m.tenant = @tenant AND +m.lane = me.lane
    WHERE me.tenant = @tenant AND me.id = @id AND ${isStanding('me.lane')}
  )
  SELECT m.*, max(m.id = s.id) AS is_source
  FROM sources s
  JOIN messages m ON m.lane = s.lane AND m.seq BETWEEN s.seq - @before AND s.seq + @after
  GROUP BY m.id ORDER BY m.seq`;

const SELECT_MESSAGES = `
  SELECT * FROM messages WHERE tenant = @tenant AND ${isStanding('lane')} AND id IN (SELECT value FROM json_each(@ids))`;
