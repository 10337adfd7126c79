import type { Erasure, LaneId, NewErasure, Owner, TenantId } from '@slowwave/engine';
import { addCounts, cutOffOwner, ERASING, type ErasureRow, erasureFrom } from '../../../ledger/erasing.ts';
import { forgetUserInKeys } from '../../../ledger/keys.ts';
import { count } from '../../../ledger/usage.ts';
import { forgetUserInWebhooks } from '../../../ledger/webhooks.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';
import { laneOfOwner } from './lanes.ts';

export interface RequestErasure {
  readonly tenant: TenantId;
  readonly owner: Owner;
  readonly erasure: NewErasure;
}

/** Stores the erasure and cuts the owner's lane off: claims, turns and writers no longer get hold of it. */
export function requestErasure(sql: Sql, { tenant, owner, erasure }: RequestErasure): Erasure {
  const { id, ownerHash, now } = erasure;
  if (owner.kind === 'user') {
    runScript(sql, forgetUserInKeys({ tenant, userId: owner.id, now }));
    runScript(sql, forgetUserInWebhooks(tenant, owner.id));
  }
  const lane = laneOfOwner(sql, tenant, owner);
  const before = lane === null ? sql.get<ErasureRow>(SELECT_OPEN, { tenant, ownerHash }) : null;
  if (before !== null) return erasureFrom(before);
  const { kind, id: ownerId } = owner;
  sql.run(INSERT, { id, tenant, kind, ownerId, ownerHash, lane: lane?.id ?? null, now });
  if (lane !== null) sql.run(CUT_OFF, { lane: lane.id, id, ownerId: cutOffOwner(id) });
  return load(sql, id);
}

/** The next rows of one kind go, and are counted. */
export function eraseSlice(sql: Sql, { id, limit }: { id: string; limit: number }): { more: boolean } {
  const { tenant, lane, counts } = load(sql, id);
  if (lane === null) return { more: false };
  for (const { pick, changes = [], deletes } of ERASING) {
    const picked = sql.all<{ id: string | number }>(rowsIn(pick), { lane, limit });
    if (picked.length === 0) continue;
    const ids = JSON.stringify(picked.map((row) => row.id));
    for (const change of changes) sql.run(rowsIn(change), { ids });
    const gone = deletes.map(([table, condition]) => [table, erase(sql, { table, condition, lane, ids })] as const);
    sql.run(COUNT, { id, counts: JSON.stringify(addCounts(counts, gone)) });
    const value = gone.find(([table]) => table === 'batches')?.[1] ?? 0;
    runScript(sql, count([{ tenant, name: 'erased', value }]));
    return { more: true };
  }
  return { more: false };
}

/** What still referred to the lane would keep its row from going. */
export function forgetOwner(sql: Sql, { id }: { id: string }): void {
  const { lane, tenant, owner } = load(sql, id);
  if (owner?.kind === 'user') sql.run(FORGET_IN_FILTERS, { tenant, userId: owner.id, nobody: cutOffOwner(id) });
  sql.run(FORGET, { id });
  if (lane !== null) sql.run('DELETE FROM lanes WHERE id = @lane', { lane });
}

export function finishErasures(
  sql: Sql,
  { ids, remains, now }: { ids: readonly string[]; remains: readonly string[]; now: number },
): void {
  sql.run(FINISH, { ids: JSON.stringify(ids), remains: JSON.stringify(remains), now });
}

function erase(sql: Sql, of: { table: string; condition: string; lane: LaneId; ids: string }): number {
  const { table, condition, lane, ids } = of;
  const text = `DELETE FROM ${table} WHERE ${rowsIn(condition)}`;
  return sql.run(text, condition.includes('@lane') ? { lane, ids } : { ids });
}

/** A statement of an erasure, for these rows. */
export const rowsIn = (text: string): string =>
  text.replaceAll(':ids', GIVEN).replaceAll(':places', `rowid IN ${GIVEN}`).replaceAll(':place', 'rowid');

const GIVEN = '(SELECT value FROM json_each(@ids))';

function load(sql: Sql, id: string): Erasure {
  const row = sql.get<ErasureRow>('SELECT * FROM erasures WHERE id = @id', { id });
  if (row === null) throw new Error(`there is no erasure ${id}`);
  return erasureFrom(row);
}

const SELECT_OPEN = `
  SELECT * FROM erasures WHERE tenant = @tenant AND owner_hash = @ownerHash AND state <> 'erased'
  ORDER BY requested_at DESC LIMIT 1`;

const INSERT = `
  INSERT INTO erasures (id, tenant, owner_kind, owner_id, owner_hash, lane, state, counts, remains, requested_at)
  VALUES (@id, @tenant, @kind, @ownerId, @ownerHash, @lane, 'requested', '{}', '[]', @now)`;

const CUT_OFF = `
  UPDATE lanes SET owner_id = @ownerId, erasure = @id, state = 'idle', epoch = epoch + 1, generation = generation + 1,
    consolidation_id = NULL, due_at = NULL, pending = 0, pending_tokens = 0
  WHERE id = @lane`;

const COUNT = `UPDATE erasures SET state = 'erasing', counts = @counts WHERE id = @id`;

/** A filter for nobody finds nothing; one without a user would find everybody. */
const FORGET_IN_FILTERS = `
  UPDATE replays SET filter = json_set(filter, '$.userId', @nobody)
  WHERE tenant = @tenant AND json_extract(filter, '$.userId') = @userId`;

const FORGET = `
  UPDATE erasures SET state = 'compacting', owner_kind = NULL, owner_id = NULL, lane = NULL WHERE id = @id`;

const FINISH = `
  UPDATE erasures SET state = 'erased', remains = @remains, erased_at = @now
  WHERE id IN (SELECT value FROM json_each(@ids)) AND state = 'compacting'`;
