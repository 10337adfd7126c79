import type {
  Consolidation,
  ConversationContext,
  Gathered,
  KnownVectors,
  LaneId,
  Page,
  Paged,
  Plan,
  Scope,
  StoredAnswer,
  TenantId,
  Turn,
} from '@slowwave/engine';
import { pageOf } from '../../../ledger/cursor.ts';
import { isStanding, laneOfUser, newestFirst, where } from '../../../ledger/page.ts';
import {
  type AnswerRow,
  answerFrom,
  type ConsolidationRow,
  consolidationFrom,
  SELECT_CONSOLIDATIONS,
} from '../../../ledger/rows/consolidation.ts';
import { type MessageRow, messageFrom } from '../../../ledger/rows/message.ts';
import { planFrom } from '../../../ledger/rows/plan.ts';
import { vectorsFrom } from '../../../ledger/vectors.ts';
import type { Sql } from '../sql.ts';

/** What a turn reads of the conversation. */
export function gather(sql: Sql, turn: Turn, recentCount: number): Gathered {
  const params = { tenant: turn.tenant, ids: JSON.stringify(turn.batchIds) };
  const messages = sql.all<MessageRow>(SELECT_PINNED, params);
  const metadata = sql.all<{ id: string; metadata: string }>(SELECT_METADATA, params);
  const scope = sql.get<{ scope: number; summary: string | null }>(SELECT_SCOPE, { id: turn.consolidationId });
  const recent = sql.all<MessageRow>(SELECT_RECENT, {
    tenant: turn.tenant,
    scope: scope?.scope ?? null,
    before: messages[0]?.seq ?? 0,
    limit: recentCount,
  });
  return {
    messages: messages.map(messageFrom),
    metadata: new Map(metadata.map((row) => [row.id, JSON.parse(row.metadata)])),
    summary: scope?.summary ?? null,
    recent: recent.reverse().map(messageFrom),
  };
}

/** What a batch of a scope would be gathered with if it were claimed now. */
export function contextOf(
  sql: Sql,
  { lane, scope, recentCount }: { lane: LaneId; scope: Scope; recentCount: number },
): ConversationContext {
  const row = sql.get<{ id: number; tenant: TenantId; summary: string | null }>(SELECT_SCOPE_OF_LANE, {
    lane,
    ...scope,
  });
  if (row === null) return { summary: null, recent: [] };
  const recent = sql.all<MessageRow>(SELECT_RECENT, {
    tenant: row.tenant,
    scope: row.id,
    before: Number.MAX_SAFE_INTEGER,
    limit: recentCount,
  });
  return { summary: row.summary, recent: recent.reverse().map(messageFrom) };
}

export function findAnswer(
  sql: Sql,
  key: { consolidationId: string; step: string; inputHash: string },
): StoredAnswer | null {
  const row = sql.get<AnswerRow>(SELECT_ANSWER, key);
  return row === null ? null : answerFrom(row);
}

/** In the order they came. */
export function answersOf(sql: Sql, consolidationId: string): readonly StoredAnswer[] {
  const text = 'SELECT * FROM answers WHERE consolidation_id = @consolidationId ORDER BY seq';
  return sql.all<AnswerRow>(text, { consolidationId }).map(answerFrom);
}

/** The newest round. */
export function planOf(sql: Sql, consolidationId: string): Plan | null {
  const row = sql.get<{ plan: string }>(SELECT_PLAN, { consolidationId });
  return row === null ? null : planFrom(row.plan);
}

export function getConsolidation(sql: Sql, tenant: TenantId, id: string): Consolidation | null {
  const text = `${SELECT_CONSOLIDATIONS} WHERE c.tenant = @tenant AND c.id = @id AND ${isStanding('c.lane')}`;
  const row = sql.get<ConsolidationRow>(text, { tenant, id });
  return row === null ? null : consolidationFrom(row);
}

export interface ConsolidationFilter {
  readonly state?: Consolidation['state'];
  readonly userId?: string;
}

export function listConsolidations(
  sql: Sql,
  { tenant, filter, page }: { tenant: TenantId; filter: ConsolidationFilter; page: Page },
): Paged<Consolidation> {
  const newest = newestFirst(page, 'c.created_at', 'c.id');
  const conditions = where([
    'c.tenant = @tenant',
    isStanding('c.lane'),
    filter.state === undefined ? null : 'c.state = @state',
    filter.userId === undefined ? null : laneOfUser('c.lane'),
    newest.condition,
  ]);
  const params = { tenant, state: filter.state ?? null, userId: filter.userId ?? null, ...newest.params };
  const rows = sql.all<ConsolidationRow>(`${SELECT_CONSOLIDATIONS} ${conditions} ${newest.order}`, params);
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.created_at, row.id]);
  return { results: results.map(consolidationFrom), nextCursor };
}

export function vectorsOf(
  sql: Sql,
  { lane, fingerprint, textHashes }: { lane: LaneId; fingerprint: string; textHashes: readonly string[] },
): KnownVectors {
  const params = { lane, fingerprint, hashes: JSON.stringify(textHashes) };
  const rows = sql.all<{ text_hash: string; vector: Buffer }>(SELECT_VECTORS, params);
  return vectorsFrom(rows);
}

const SELECT_PINNED = `
  SELECT * FROM messages
  WHERE tenant = @tenant AND batch_id IN (SELECT value FROM json_each(@ids)) ORDER BY seq`;

const SELECT_METADATA = `
  SELECT id, metadata FROM batches WHERE tenant = @tenant AND id IN (SELECT value FROM json_each(@ids))`;

const SELECT_SCOPE = `
  SELECT scope, summary FROM consolidations WHERE id = @id`;

const SELECT_SCOPE_OF_LANE = `
  SELECT s.id, l.tenant, s.summary FROM scopes s JOIN lanes l ON l.id = s.lane
  WHERE s.lane = @lane AND s.user_id IS NOT DISTINCT FROM @userId AND s.agent_id IS NOT DISTINCT FROM @agentId
    AND s.run_id IS NOT DISTINCT FROM @runId AND s.app_id IS NOT DISTINCT FROM @appId`;

const SELECT_RECENT = `
  SELECT m.* FROM messages m JOIN batches b ON b.id = m.batch_id
  WHERE m.tenant = @tenant AND m.scope = @scope AND m.seq < @before AND m.resent = 0
    AND b.applied_at IS NOT NULL AND b.state <> 'undone'
  ORDER BY m.seq DESC LIMIT @limit`;

const SELECT_ANSWER = `
  SELECT * FROM answers WHERE consolidation_id = @consolidationId AND step = @step AND input_hash = @inputHash`;

const SELECT_PLAN = `
  SELECT plan FROM plans WHERE consolidation_id = @consolidationId ORDER BY round DESC LIMIT 1`;

const SELECT_VECTORS = `
  SELECT text_hash, vector FROM vectors
  WHERE lane = @lane AND fingerprint = @fingerprint AND text_hash IN (SELECT value FROM json_each(@hashes))`;
