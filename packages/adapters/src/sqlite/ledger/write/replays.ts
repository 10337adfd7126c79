import type { LaneId, NewReplay, Nudge, Owner, Replay, ReplayCreated, ReplayStep, TenantId } from '@slowwave/engine';
import { withoutOwner } from '@slowwave/engine/storing';
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

export function createReplay(sql: Sql, { replay }: { replay: NewReplay }): ReplayCreated {
  const { tenant, idempotency, id } = replay;
  const key = idempotency?.key ?? null;
  const known = key === null ? null : sql.get<ReplayKeyRow>(SELECT_KEY, { tenant, key });
  if (known !== null) return createdBefore(known, replay);
  sql.run(INSERT_REPLAY, newReplayColumns(replay));
  addBatches(sql, id, replay.batchIds);
  return { kind: 'stored' };
}

/** One that is due, and nobody else's before `until`. */
export function takeReplay(sql: Sql, { now, until }: { now: number; until: number }): Replay | null {
  const row = sql.get<ReplayRow>(SELECT_DUE, { now });
  if (row === null) return null;
  sql.run('UPDATE replays SET due_at = @until WHERE id = @id', { id: row.id, until });
  return replayFrom(row);
}

/** The next slice of a live replay's batches waits again. */
export function advanceReplay(
  sql: Sql,
  { id, limit, now }: { id: string; limit: number; now: number },
): { replayed: readonly string[]; nudges: readonly Nudge[]; more: boolean } {
  const row = sql.get<ReplayRow>("SELECT * FROM replays WHERE id = @id AND state = 'preparing'", { id });
  if (row === null) return { replayed: [], nudges: [], more: false };
  const slice = nextBatches(sql, row, limit + 1);
  const taken = slice.slice(0, limit);
  const ids = taken.map((batch) => batch.id);
  const { replayed, nudges } = runScript(sql, waitAgain({ tenant: row.tenant, ids, now }));
  addBatches(sql, id, replayed);
  const last = taken.at(-1);
  const more = slice.length > limit;
  sql.run(NOTE, {
    id,
    state: more ? 'preparing' : 'running',
    afterAt: last?.accepted_at ?? row.after_at,
    afterId: last?.id ?? row.after_id,
  });
  return { replayed, nudges, more };
}

export function moveReplay(sql: Sql, { id, step }: { id: string; step: ReplayStep }): boolean {
  return sql.run(MOVE, { id, ...stepColumns(step) }) === 1;
}

/** Tenants have few replays that name anybody. */
export function forgetInReplays(sql: Sql, { tenant, owner }: { tenant: TenantId; owner: Owner }): void {
  for (const row of sql.all<ReplayRow>(SELECT_TELLING, { tenant })) {
    const rest = withoutOwner(replayFrom(row), owner);
    if (rest !== null) sql.run(FORGET, { id: row.id, filter: JSON.stringify(rest.filter), result: resultText(rest) });
  }
}

const resultText = ({ result }: Pick<Replay, 'result'>): string | null =>
  result === null ? null : JSON.stringify(result);

interface Found {
  readonly id: string;
  readonly lane: LaneId;
  readonly accepted_at: number;
}

function nextBatches(sql: Sql, row: ReplayRow, limit: number): readonly Found[] {
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

function addBatches(sql: Sql, id: string, batchIds: readonly string[]): void {
  sql.run(INSERT_BATCHES, { id, batchIds: JSON.stringify(batchIds) });
}

const SELECT_KEY = 'SELECT id, body_hash FROM replays WHERE tenant = @tenant AND key = @key';

const INSERT_REPLAY = `
  INSERT INTO replays (
    id, tenant, kind, state, filter, changes, matched, key, body_hash, after_at, after_id, due_at, created_at
  ) VALUES (
    @id, @tenant, @kind, 'preparing', @filter, @changes, @matched, @key, @bodyHash, @afterAt, @afterId, @now, @now
  )`;

const INSERT_BATCHES = `
  INSERT INTO replay_batches (replay_id, batch_id) SELECT @id, value FROM json_each(@batchIds) WHERE true
  ON CONFLICT DO NOTHING`;

const SELECT_DUE = 'SELECT * FROM replays WHERE due_at <= @now ORDER BY due_at LIMIT 1';

const NOTE = 'UPDATE replays SET state = @state, after_at = @afterAt, after_id = @afterId WHERE id = @id';

const SELECT_TELLING = `
  SELECT * FROM replays
  WHERE tenant = @tenant AND (result IS NOT NULL OR json_extract(filter, '$.userId') IS NOT NULL)`;

const FORGET = 'UPDATE replays SET filter = @filter, result = @result, key = NULL WHERE id = @id';

const MOVE = `
  UPDATE replays SET state = @to, due_at = @dueAt, failure = coalesce(@failure, failure),
    result = coalesce(@result, result), finished_at = coalesce(@finishedAt, finished_at),
    expires_at = CASE WHEN @setsExpiry = 1 THEN @expiresAt ELSE expires_at END
  WHERE id = @id AND state = @from`;
