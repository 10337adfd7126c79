import type { SummaryBasis, SummaryRefresh, Turn } from '@slowwave/engine';
import { basisOf, refreshOf, type SaidRow, type SummaryRow } from '../../../ledger/summary.ts';
import type { Sql } from '../sql.ts';

/** The refresh of the turn's scope, if one is due. */
export async function dueSummary(sql: Sql, turn: Turn, every: number): Promise<SummaryRefresh | null> {
  const scope = await sql.get<SummaryRow>(SELECT_SCOPE_OF_TURN, { id: turn.consolidationId, lane: turn.lane });
  return scope === null ? null : refreshOf(scope, await saidSince(sql, scope, every), every);
}

/** What a refresh starts from; null when none is due any more. */
export async function readSummary(
  sql: Sql,
  refresh: SummaryRefresh,
  how: { every: number; limit: number },
): Promise<SummaryBasis | null> {
  const scope = await sql.get<SummaryRow>(SELECT_SCOPE, { id: Number(refresh.scope), lane: refresh.lane });
  return scope === null ? null : basisOf(scope, await saidSince(sql, scope, Math.max(how.every, how.limit)), how);
}

/** The newest consolidated messages the summary does not cover, newest first. */
const saidSince = (sql: Sql, { id, summary_upto }: SummaryRow, limit: number): Promise<SaidRow[]> =>
  sql.all<SaidRow>(SELECT_SAID, { scope: id, after: summary_upto, limit });

const SELECT_SCOPE = `
  SELECT id, lane, summary, summary_upto, summary_revision FROM scopes WHERE id = @id AND lane = @lane`;

const SELECT_SCOPE_OF_TURN = `
  SELECT s.id, s.lane, s.summary, s.summary_upto, s.summary_revision
  FROM consolidations c JOIN scopes s ON s.id = c.scope WHERE c.id = @id AND s.lane = @lane`;

const SELECT_SAID = `
  SELECT m.*, EXISTS (
    SELECT 1 FROM event_sources x JOIN events e ON e.seq = x.event_seq JOIN memories k ON k.id = e.memory_id
    WHERE x.message_id = m.id AND e.kind <> 'DELETE' AND NOT k.live
  ) AS forgotten
  FROM messages m JOIN batches b ON b.id = m.batch_id
  WHERE m.scope = @scope AND m.seq > @after AND NOT m.resent AND b.applied_at IS NOT NULL AND b.state <> 'undone'
  ORDER BY m.seq DESC LIMIT @limit`;
