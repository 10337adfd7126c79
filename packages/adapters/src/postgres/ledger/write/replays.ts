import {
  type LaneId,
  type NewReplay,
  type Nudge,
  type Owner,
  type Replay,
  type ReplayCreated,
  type ReplayStep,
  type TenantId,
  withoutOwner,
} from '@slowwave/engine';
import { waitAgain } from '../../../ledger/batches.ts';
import { where } from '../../../ledger/page.ts';
import {
  createdBefore,
  newReplayColumns,
  type ReplayKeyRow,
  type ReplayRow,
  replayFrom,
  stepColumns,
} from '../../../ledger/rows/replay.ts';
import { whereMatches } from '../read/replays.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';

export async function createReplay(sql: Sql, { replay }: { replay: NewReplay }): Promise<ReplayCreated> {
  const { tenant, idempotency, id, batchIds } = replay;
  if ((await sql.run(INSERT_REPLAY, newReplayColumns(replay))) === 0) {
    const known = await sql.get<ReplayKeyRow>(SELECT_KEY, { tenant, key: idempotency?.key ?? '' });
    if (known === null) throw new Error(`replay ${id} was not stored, and no other has its key`);
    return createdBefore(known, replay);
  }
  await addBatches(sql, id, batchIds);
  return { kind: 'stored' };
}

/** One that is due, and nobody else's before `until`. */
export async function takeReplay(sql: Sql, { now, until }: { now: number; until: number }): Promise<Replay | null> {
  const row = await sql.get<ReplayRow>(TAKE_DUE, { now, until });
  return row === null ? null : replayFrom(row);
}

/** The next slice of a live replay's batches waits again. */
export async function advanceReplay(
  sql: Sql,
  { id, limit, now }: { id: string; limit: number; now: number },
): Promise<{ replayed: readonly string[]; nudges: readonly Nudge[]; more: boolean }> {
  const row = await sql.get<ReplayRow>(LOCK_PREPARING, { id });
  if (row === null) return { replayed: [], nudges: [], more: false };
  const slice = await nextBatches(sql, row, limit + 1);
  const taken = slice.slice(0, limit);
  const ids = taken.map((batch) => batch.id);
  const { replayed, nudges } = await runScript(sql, waitAgain({ tenant: row.tenant, ids, now }));
  await addBatches(sql, id, replayed);
  const last = taken.at(-1);
  const more = slice.length > limit;
  await sql.run(NOTE, {
    id,
    state: more ? 'preparing' : 'running',
    afterAt: last?.accepted_at ?? row.after_at,
    afterId: last?.id ?? row.after_id,
  });
  return { replayed, nudges, more };
}

export async function moveReplay(sql: Sql, { id, step }: { id: string; step: ReplayStep }): Promise<boolean> {
  return (await sql.run(MOVE, { id, ...stepColumns(step) })) === 1;
}

/** Tenants have few replays that name anybody. */
export async function forgetInReplays(sql: Sql, tenant: TenantId, owner: Owner): Promise<void> {
  for (const row of await sql.all<ReplayRow>(SELECT_TELLING, { tenant })) {
    const rest = withoutOwner(replayFrom(row), owner);
    if (rest === null) continue;
    const result = rest.result === null ? null : JSON.stringify(rest.result);
    await sql.run(FORGET, { id: row.id, filter: JSON.stringify(rest.filter), result });
  }
}

interface Found {
  readonly id: string;
  readonly lane: LaneId;
  readonly accepted_at: number;
}

async function nextBatches(sql: Sql, row: ReplayRow, limit: number): Promise<readonly Found[]> {
  const { tenant, filter } = replayFrom(row);
  const { conditions, params } = whereMatches({ tenant, filter });
  const rest = where([...conditions, '(b.accepted_at, b.id) > (@afterAt, @afterId)']);
  return sql.all<Found>(
    `SELECT b.id, b.lane, b.accepted_at FROM batches b ${rest} ORDER BY b.accepted_at, b.id LIMIT @limit`,
    {
      ...params,
      afterAt: row.after_at,
      afterId: row.after_id,
      limit,
    },
  );
}

async function addBatches(sql: Sql, id: string, batchIds: readonly string[]): Promise<void> {
  await sql.run(INSERT_BATCHES, { id, batchIds });
}

const SELECT_KEY = 'SELECT id, body_hash FROM replays WHERE tenant = @tenant AND key = @key';

const INSERT_REPLAY = `
  INSERT INTO replays (
    id, tenant, kind, state, filter, changes, matched, key, body_hash, after_at, after_id, due_at, created_at
  ) VALUES (
    @id, @tenant, @kind, 'preparing', @filter::jsonb, @changes::jsonb, @matched, @key, @bodyHash, @afterAt, @afterId, @now, @now
  ) ON CONFLICT (tenant, key) DO NOTHING`;

const INSERT_BATCHES = `
  INSERT INTO replay_batches (replay_id, batch_id) SELECT @id, batch FROM unnest(@batchIds::text[]) AS batch
  ON CONFLICT DO NOTHING`;

const TAKE_DUE = `
  UPDATE replays SET due_at = @until WHERE id = (
    SELECT id FROM replays WHERE due_at <= @now ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
  ) RETURNING *`;

const LOCK_PREPARING = "SELECT * FROM replays WHERE id = @id AND state = 'preparing' FOR UPDATE";

const NOTE = 'UPDATE replays SET state = @state, after_at = @afterAt, after_id = @afterId WHERE id = @id';

const SELECT_TELLING = `
  SELECT * FROM replays WHERE tenant = @tenant AND (result IS NOT NULL OR filter ? 'userId') ORDER BY id FOR UPDATE`;

const FORGET = 'UPDATE replays SET filter = @filter::jsonb, result = @result::jsonb, key = NULL WHERE id = @id';

const MOVE = `
  UPDATE replays SET state = @to, due_at = @dueAt, failure = coalesce(@failure::jsonb, failure),
    result = coalesce(@result::jsonb, result), finished_at = coalesce(@finishedAt, finished_at),
    expires_at = CASE WHEN @setsExpiry = 1 THEN @expiresAt ELSE expires_at END
  WHERE id = @id AND state = @from`;
