import type { ContentStore } from '@slowwave/engine';
import { memoriesOfLane } from '../../../ledger/memories.ts';
import { type MessageRow, messageFrom } from '../../../ledger/rows/message.ts';
import { type ScopeColumns, scopeFrom } from '../../../ledger/rows/scope.ts';
import type { Access } from '../access.ts';
import { runScript } from '../script.ts';

export function contentStore({ read }: Access): ContentStore {
  return {
    messages: (lane, after, limit) =>
      read((sql) => sql.all<MessageRow>(SELECT_MESSAGES, { lane, after, limit }).map(messageFrom)),
    memories: (lane, after, limit) =>
      read((sql) => runScript(sql, memoriesOfLane({ lane, after: after ?? '', limit }))),
    summaries: (lane) =>
      read((sql) =>
        sql
          .all<ScopeColumns & { summary: string }>(SELECT_SUMMARIES, { lane })
          .map((row) => ({ scope: scopeFrom(row), summary: row.summary })),
      ),
  };
}

const SELECT_MESSAGES = 'SELECT * FROM messages WHERE lane = @lane AND seq > @after ORDER BY seq LIMIT @limit';

const SELECT_SUMMARIES = `
  SELECT user_id, agent_id, run_id, app_id, summary FROM scopes
  WHERE lane = @lane AND summary IS NOT NULL ORDER BY id`;
