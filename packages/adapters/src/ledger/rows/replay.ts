import type { NewReplay, Replay, ReplayCreated, ReplayFilter, ReplayStep, TenantId } from '@slowwave/engine';
import { laneOfUser } from '../page.ts';

/** A replay as it is stored. */
export interface ReplayRow {
  readonly id: string;
  readonly tenant: TenantId;
  readonly kind: Replay['kind'];
  readonly state: Replay['state'];
  readonly filter: string;
  readonly changes: string;
  readonly matched: number;
  readonly failure: string | null;
  readonly result: string | null;
  /** The last batch that was looked at, by acceptance and id. */
  readonly after_at: number;
  readonly after_id: string;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly expires_at: number | null;
}

export const replayFrom = (row: ReplayRow): Replay => ({
  id: row.id,
  tenant: row.tenant,
  kind: row.kind,
  state: row.state,
  filter: JSON.parse(row.filter),
  changes: JSON.parse(row.changes),
  matched: row.matched,
  failure: row.failure === null ? null : JSON.parse(row.failure),
  result: row.result === null ? null : JSON.parse(row.result),
  createdAt: row.created_at,
  finishedAt: row.finished_at,
  expiresAt: row.expires_at,
});

/** Before the first batch there can be. */
const FROM_THE_START = { at: -Number.MAX_SAFE_INTEGER, id: '' };

export const newReplayColumns = (replay: NewReplay) => ({
  id: replay.id,
  tenant: replay.tenant,
  kind: replay.kind,
  filter: JSON.stringify(replay.filter),
  changes: JSON.stringify(replay.changes),
  matched: replay.matched,
  key: replay.idempotency?.key ?? null,
  bodyHash: replay.idempotency?.bodyHash ?? null,
  afterAt: FROM_THE_START.at,
  afterId: FROM_THE_START.id,
  now: replay.now,
});

export interface ReplayKeyRow {
  readonly id: string;
  readonly body_hash: string;
}

/** What an idempotency key led to before. */
export const createdBefore = (known: ReplayKeyRow, { idempotency }: NewReplay): ReplayCreated =>
  known.body_hash === idempotency?.bodyHash ? { kind: 'repeated', id: known.id } : { kind: 'conflict' };

/** What a step changes, as columns; what it leaves out stays. */
export const stepColumns = (step: ReplayStep) => ({
  from: step.from,
  to: step.to,
  dueAt: step.dueAt,
  failure: step.failure === undefined ? null : JSON.stringify(step.failure),
  result: step.result === undefined ? null : JSON.stringify(step.result),
  finishedAt: step.finishedAt ?? null,
  setsExpiry: step.expiresAt === undefined ? 0 : 1,
  expiresAt: step.expiresAt ?? null,
});

/** The conditions on b (batches) that a filter means, without those on lists; and their parameters. */
export function filterConditions(filter: ReplayFilter) {
  const { lane = null, userId = null, since = null, until = null, errorCode = null } = filter;
  return {
    conditions: [
      'b.tenant = @tenant',
      lane === null ? null : 'b.lane = @lane',
      userId === null ? null : laneOfUser('b.lane'),
      since === null ? null : 'b.accepted_at >= @since',
      until === null ? null : 'b.accepted_at < @until',
    ],
    params: { lane, userId, since, until, errorCode },
  };
}
