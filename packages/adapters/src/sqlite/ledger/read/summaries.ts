import type { LaneId, Message, SummaryBasis, SummaryRefresh, Turn } from '@slowwave/engine';
import { type MessageRow, messageFrom } from '../../../ledger/rows/message.ts';
import type { Sql } from '../sql.ts';

/** The refresh of the turn's scope, if one is due. */
export function dueSummary(sql: Sql, turn: Turn, every: number): SummaryRefresh | null {
  const scope = sql.get<ScopeRow>(SELECT_SCOPE_OF_TURN, { id: turn.consolidationId, lane: turn.lane });
  const since = scope === null ? [] : saidSince(sql, scope, every);
  const [last] = since;
  if (scope === null || last === undefined || since.length < every) return null;
  return { lane: turn.lane, scope: String(scope.id), upTo: last.seq };
}

/** What a refresh starts from; null when none is due any more. */
export function readSummary(
  sql: Sql,
  { refresh, every, limit }: { refresh: SummaryRefresh; every: number; limit: number },
): SummaryBasis | null {
  const scope = sql.get<ScopeRow>(SELECT_SCOPE, { id: Number(refresh.scope), lane: refresh.lane });
  const since = scope === null ? [] : saidSince(sql, scope, Math.max(every, limit));
  const [last] = since;
  if (scope === null || last === undefined || since.length < every) return null;
  const messages = since.slice(0, limit).reverse();
  return {
    summary: scope.summary,
    messages: messages.filter((row) => row.forgotten === 0).map(toMessage),
    upTo: last.seq,
    revision: scope.summary_revision,
  };
}

const toMessage = ({ forgotten, ...row }: SaidRow): Message => messageFrom(row);

/** The newest consolidated messages the summary does not cover, newest first. */
const saidSince = (sql: Sql, { id, summary_upto }: ScopeRow, limit: number): SaidRow[] =>
  sql.all<SaidRow>(SELECT_SAID, { scope: id, after: summary_upto, limit });

interface ScopeRow {
  readonly id: number;
  readonly lane: LaneId;
  readonly summary: string | null;
  readonly summary_upto: number;
  readonly summary_revision: number;
}

interface SaidRow extends MessageRow {
  /** It told something that is deleted by now. */
  readonly forgotten: 0 | 1;
}

const SELECT_SCOPE = `
  SELECT id, lane, summary, summary_upto, summary_revision FROM scopes WHERE id = @id AND lane = @lane`;

const SELECT_SCOPE_OF_TURN = `
  SELECT s.id, s.lane, s.summary, s.summary_upto, s.summary_revision
  FROM consolidations c JOIN scopes s ON s.id = c.scope WHERE c.id = @id AND s.lane = @lane`;

const SELECT_SAID = `
  SELECT m.*, EXISTS (
    SELECT 1 FROM event_sources x JOIN events e ON e.seq = x.event_seq JOIN memories k ON k.id = e.memory_id
    WHERE x.message_id = m.id AND e.kind <> 'DELETE' AND k.live = 0
  ) AS forgotten
  FROM messages m JOIN batches b ON b.id = m.batch_id
  WHERE m.scope = @scope AND m.seq > @after AND m.resent = 0 AND b.applied_at IS NOT NULL AND b.state <> 'undone'
  ORDER BY m.seq DESC LIMIT @limit`;
