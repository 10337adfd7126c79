import type {
  Conversation,
  Owner,
  PendingMessage,
  PresentLimits,
  ProfileFact,
  Scope,
  TenantId,
} from '@slowwave/engine';
import { compareSaid, ownerOf } from '@slowwave/engine/storing';
import { clockFrom, type MessageRow } from './rows/message.ts';

/** The newest waiting batches that are looked into: far more than a prompt has room for. */
const BATCHES_MAX = 100;

/** A waiting message; `content` is null where it is too long. */
export type PendingRow = Omit<MessageRow, 'content' | 'resent'> & { readonly content: string | null };

export interface ProfileRow {
  readonly id: string;
  readonly number: number;
  readonly text: string;
  readonly said_at: number;
  readonly said_seq: number;
  readonly valid_from: number;
  readonly utc_offset: number | null;
}

/** What every statement of this file is given. */
export function presentParams(tenant: TenantId, scope: Scope) {
  const owner: Owner = ownerOf(scope);
  const { agentId, runId, appId } = scope;
  return { tenant, ownerKind: owner.kind, ownerId: owner.id, agentId, runId, appId };
}

export const conversationParams = (tenant: TenantId, scope: Scope, { messages, longest }: PresentLimits) => ({
  ...presentParams(tenant, scope),
  batches: BATCHES_MAX,
  limit: messages + 1,
  longest,
});

/** Rows come live ones first, newest first, one more than is asked for. */
export function conversationFrom(
  rows: readonly PendingRow[],
  summary: string | null,
  { messages }: PresentLimits,
): Conversation {
  const pending = rows.slice(0, messages).map(pendingFrom);
  return {
    summary,
    pending: pending.sort((a, b) => compareSaid(a.saidAt, b.saidAt)),
    more: rows.length > messages,
  };
}

const pendingFrom = (row: PendingRow): PendingMessage => ({
  id: row.id,
  batchId: row.batch_id,
  clientId: row.client_id,
  role: row.role,
  content: row.content === null ? null : JSON.parse(row.content),
  name: row.name,
  saidAt: { at: row.said_at, seq: row.seq },
  ...clockFrom(row),
});

export const profileFactFrom = (row: ProfileRow): ProfileFact => ({
  memoryId: row.id,
  version: row.number,
  text: row.text,
  saidAt: { at: row.said_at, seq: row.said_seq },
  validFrom: row.valid_from,
  ...(row.utc_offset !== null && { utcOffset: row.utc_offset }),
});

export const LANE_OF_OWNER =
  '(SELECT id FROM lanes WHERE tenant = @tenant AND owner_kind = @ownerKind AND owner_id = @ownerId)';

/** Conditions on s (scopes): the ids beside the owner. */
export const within = ({ agentId, runId, appId }: Scope): string =>
  [
    agentId === null ? '' : ' AND s.agent_id = @agentId',
    runId === null ? '' : ' AND s.run_id = @runId',
    appId === null ? '' : ' AND s.app_id = @appId',
  ].join('');

/** The newest waiting batches of a lane, each state by an index of its own, which `by` may have to insist on. */
export const waiting = (by: (index: string) => string): string => `
  waiting AS (
    SELECT * FROM (
      SELECT id, scope, backfill FROM batches ${by('batches_pending')}
      WHERE lane = ${LANE_OF_OWNER} AND state = 'pending'
      ORDER BY position DESC LIMIT @batches
    ) p
    UNION ALL
    SELECT * FROM (
      SELECT id, scope, backfill FROM batches ${by('batches_consolidating')}
      WHERE lane = ${LANE_OF_OWNER} AND state = 'consolidating'
      ORDER BY position DESC LIMIT @batches
    ) c
  )`;

/** Of the versions v of a memory that is live the one that holds at a moment: the newest, or until that begins the one before. */
export const SHOWN_AT = `
  v.valid_from <= @at AND (v.superseded_by IS NULL OR (v.invalid_at > @at AND EXISTS (
    SELECT 1 FROM versions n WHERE n.memory_id = v.memory_id
      AND n.superseded_by IS NULL AND n.valid_from > @at AND n.valid_from > n.said_at)))`;

export const selectSummary = (scope: Scope): string => `
  SELECT s.summary FROM scopes s
  WHERE s.lane = ${LANE_OF_OWNER} AND s.summary IS NOT NULL${within(scope)}
  ORDER BY s.summary_upto DESC LIMIT 1`;
