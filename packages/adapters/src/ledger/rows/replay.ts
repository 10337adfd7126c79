import type { NewReplay, Replay, ReplayStep, TenantId } from '@slowwave/engine';

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

/** Before the first batch there can be. */
const FROM_THE_START = { at: -Number.MAX_SAFE_INTEGER, id: '' };

/** What a step changes, as columns; what it leaves out stays. */
export const stepColumns = (step: ReplayStep) => ({
  from: step.from,
  to: step.to,
  dueAt: step.dueAt,
  failure: jsonOf(step.failure),
  result: jsonOf(step.result),
  finishedAt: step.finishedAt ?? null,
  setsExpiry: step.expiresAt === undefined ? 0 : 1,
  expiresAt: step.expiresAt ?? null,
});

export const jsonOf = (value: object | null | undefined): string | null => (value ? JSON.stringify(value) : null);
