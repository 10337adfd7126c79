import type { LaneId, SaidMessage, SpokenBatch, TenantId } from '@slowwave/engine';
import { type MessageRow, messageFrom } from './rows/message.ts';
import { type OwnerColumns, ownerFrom, type ScopeColumns, scopeFrom } from './rows/scope.ts';

/** What both kinds of SQL ledger do to tell the index what was said: statements that SQLite and PostgreSQL read alike. */

/** A message and the id of the one before it. */
export type SaidRow = MessageRow & { readonly before_id: string | null };

const SPOKEN = `NOT p.resent AND p.role IN ('user', 'assistant')`;

/** Of each message `m` the last earlier one of its scope that a user or an assistant said. */
export const BEFORE = `(
    SELECT p.id FROM messages p WHERE p.scope = m.scope AND p.seq < m.seq AND ${SPOKEN} ORDER BY p.seq DESC LIMIT 1
  ) AS before_id`;

/** `before` are the messages that rows name, where they are not among the rows. */
export function saidFrom(rows: readonly SaidRow[], before: readonly MessageRow[]): readonly SaidMessage[] {
  const messages = new Map([...before, ...rows].map((row) => [row.id, messageFrom(row)]));
  return rows.flatMap((row) => {
    const message = messages.get(row.id);
    const prior = row.before_id === null ? null : (messages.get(row.before_id) ?? null);
    return message === undefined ? [] : [{ message, before: prior }];
  });
}

/** The messages to be read besides. */
export function beforeIds(rows: readonly SaidRow[]): string[] {
  const known = new Set(rows.map(({ id }) => id));
  return [...new Set(rows.flatMap(({ before_id }) => before_id ?? []))].filter((id) => !known.has(id));
}

/** An applied batch, as far as the index is told of it. */
export interface SpokenRow extends ScopeColumns, OwnerColumns {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly settings: string;
  readonly metadata: string;
  readonly state: string;
  readonly stripped_at: number | null;
  readonly accepted_at: number;
  readonly applied_at: number;
  readonly speech_revised_at: number | null;
  readonly speech_revision: number;
  readonly told_revision: number;
}

/** Applied batches; add a condition. */
export const SELECT_SPOKEN = `
  SELECT b.id, b.tenant, b.lane, b.settings, b.metadata, b.state, b.stripped_at, b.accepted_at, b.applied_at,
    b.speech_revised_at, b.speech_revision, b.told_revision,
    s.user_id, s.agent_id, s.run_id, s.app_id, l.owner_kind, l.owner_id
  FROM batches b JOIN scopes s ON s.id = b.scope JOIN lanes l ON l.id = b.lane
  WHERE b.outcome IS NOT NULL`;

/** What the index has not been told as it is now. */
export const UNTOLD = 'b.told_revision < b.speech_revision';

/** The lane of a row is told with all others. */
export const notAside = (lane: string): string => `NOT EXISTS (SELECT 1 FROM untold_lanes u WHERE u.lane = ${lane})`;

/** `said` are the messages of all of them. */
export function spokenFrom(rows: readonly SpokenRow[], said: readonly SaidMessage[]): readonly SpokenBatch[] {
  const messages = Map.groupBy(said, ({ message }) => message.batchId);
  return rows.map((row) => ({
    ...{ id: row.id, tenant: row.tenant, lane: row.lane, owner: ownerFrom(row), scope: scopeFrom(row) },
    revision: row.speech_revision,
    told: row.told_revision >= row.speech_revision,
    counts: row.state !== 'undone' && row.stripped_at === null,
    metadata: JSON.parse(row.metadata),
    acceptedAt: row.accepted_at,
    changedAt: Math.max(row.applied_at, row.speech_revised_at ?? 0),
    expiresAt: JSON.parse(row.settings).expiresAt,
    messages: messages.get(row.id) ?? [],
  }));
}

/** What an index shows of a batch changes: it is told again. */
export const REVISE = 'speech_revision = speech_revision + 1, speech_revised_at = @now';

/** Stands for a batch the index was told of before it was lost. */
export const LOST = -1;

/** Of a batch that changed meanwhile it is not noted that it was told: it will be told again. */
export const NOTE_TOLD = `
  UPDATE batches SET told_revision = @revision, points = @points
  WHERE id = @id AND speech_revision = @revision AND told_revision < @revision
  RETURNING consolidation_id AS id`;

export const COUNT_POINTS =
  'SELECT CAST(coalesce(sum(points), 0) AS bigint) AS points FROM batches WHERE tenant = @tenant AND points > 0';

export const COUNT_UNTOLD = `SELECT count(*) AS untold FROM batches b WHERE b.outcome IS NOT NULL AND ${UNTOLD}`;

/** A batch of a lost index that was not told since. */
export const FIRST_LOST = `
  SELECT 1 AS found FROM batches b
  WHERE b.outcome IS NOT NULL AND ${UNTOLD} AND b.told_revision = ${LOST} LIMIT 1`;

/**
 * Memories that came from messages `m` of some batches, or from one up to the next that was said after one of them: that
 * one, and what tools printed in between, have it before them.
 */
export const hearersOf = (batches: string): string => `
  SELECT DISTINCT e.memory_id AS id
  FROM messages m
  JOIN messages n ON n.scope = m.scope AND n.seq >= m.seq AND n.seq <= coalesce(
    (SELECT min(p.seq) FROM messages p WHERE p.scope = m.scope AND p.seq > m.seq AND ${SPOKEN}), n.seq)
  JOIN event_sources x ON x.message_id = n.id
  JOIN events e ON e.seq = x.event_seq
  WHERE m.batch_id IN ${batches}
  ORDER BY id`;

/** They are found by what those batches said: the index is told of them again. */
export const tellHearers = (batches: string): string => `
  INSERT INTO outbox (memory_id, tenant, lane)
  SELECT id, tenant, lane FROM memories WHERE id IN (SELECT h.id FROM (${hearersOf(batches)}) h) ORDER BY id`;
