import type { ContentStore, LaneId, Message, Scope } from '@slowwave/engine';
import { type Access, asRead } from './access.ts';
import { memoriesOfLane } from './memories.ts';
import { type MessageRow, messageFrom } from './rows/message.ts';
import { type ScopeColumns, scopeFrom } from './rows/scope.ts';
import { all, type Script } from './script.ts';

export const contentStore = ({ read }: Access): ContentStore => ({
  messages: (lane, after, limit) => read(messagesOfLane, { lane, after, limit }),
  memories: (lane, after, limit) => read(memories, { lane, after: after ?? '', limit }),
  summaries: (lane) => read(summariesOfLane, { lane }),
});

interface MessagesOf {
  readonly lane: LaneId;
  readonly after: number;
  readonly limit: number;
}

const messagesOfLane = asRead('contents.messages', function* (of: MessagesOf): Script<readonly Message[]> {
  const text = 'SELECT * FROM messages WHERE lane = @lane AND seq > @after ORDER BY seq LIMIT @limit';
  return (yield* all<MessageRow>(text, { ...of })).map(messageFrom);
});

const memories = asRead('contents.memories', memoriesOfLane);

interface Summary {
  readonly scope: Scope;
  readonly summary: string;
}

const summariesOfLane = asRead('contents.summaries', function* (of: { lane: LaneId }): Script<readonly Summary[]> {
  const text = `
    SELECT user_id, agent_id, run_id, app_id, summary FROM scopes
    WHERE lane = @lane AND summary IS NOT NULL ORDER BY id`;
  const rows = yield* all<ScopeColumns & { summary: string }>(text, { ...of });
  return rows.map((row) => ({ scope: scopeFrom(row), summary: row.summary }));
});
