import type { Erasure, LaneId, NewErasure, Owner, TenantId } from '@slowwave/engine';
import { addCounts, cutOffOwner, ERASING, type ErasureRow, erasureFrom } from '../../../ledger/erasing.ts';
import { forgetUserInKeys } from '../../../ledger/keys.ts';
import { count } from '../../../ledger/usage.ts';
import { forgetUserInWebhooks } from '../../../ledger/webhooks.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';
import { lockLane, lockOwners } from './lanes.ts';

export interface RequestErasure {
  readonly tenant: TenantId;
  readonly owner: Owner;
  readonly erasure: NewErasure;
}

/** Stores the erasure and cuts the owner's lane off: claims, turns and writers no longer get hold of it. */
export async function requestErasure(sql: Sql, { tenant, owner, erasure }: RequestErasure): Promise<Erasure> {
  const { id, ownerHash, now } = erasure;
  if (owner.kind === 'user') {
    await runScript(sql, forgetUserInKeys({ tenant, userId: owner.id, now }));
    await runScript(sql, forgetUserInWebhooks(tenant, owner.id));
  }
  const [lane] = await lockOwners(sql, [{ tenant, owner }]);
  const before = lane === undefined ? await sql.get<ErasureRow>(SELECT_OPEN, { tenant, ownerHash }) : null;
  if (before !== null) return erasureFrom(before);
  const { kind, id: ownerId } = owner;
  await sql.run(INSERT, { id, tenant, kind, ownerId, ownerHash, lane: lane?.id ?? null, now });
  if (lane !== undefined) await sql.run(CUT_OFF, { lane: lane.id, id, ownerId: cutOffOwner(id) });
  return erasureFrom(await lockErasure(sql, id));
}

/** The next rows of one kind go, and are counted. */
export async function eraseSlice(sql: Sql, { id, limit }: { id: string; limit: number }): Promise<{ more: boolean }> {
  const { tenant, lane, counts } = erasureFrom(await lockErasure(sql, id));
  if (lane === null) return { more: false };
  await lockLane(sql, lane);
  for (const { pick, changes = [], deletes } of ERASING) {
    const picked = await sql.all<{ id: string }>(rowsIn(pick), { lane, limit });
    if (picked.length === 0) continue;
    const ids = picked.map((row) => row.id);
    for (const change of changes) await sql.run(rowsIn(change), { ids });
    const gone: [string, number][] = [];
    for (const [table, condition] of deletes) gone.push([table, await erase(sql, { table, condition, lane, ids })]);
    await sql.run(COUNT, { id, counts: JSON.stringify(addCounts(counts, gone)) });
    const value = gone.find(([table]) => table === 'batches')?.[1] ?? 0;
    await runScript(sql, count([{ tenant, name: 'erased', value }]));
    return { more: true };
  }
  return { more: false };
}

/** What still referred to the lane would keep its row from going. */
export async function forgetOwner(sql: Sql, id: string): Promise<void> {
  const { lane, tenant, owner } = erasureFrom(await lockErasure(sql, id));
  if (owner?.kind === 'user') {
    await sql.run(FORGET_IN_FILTERS, { tenant, userId: owner.id, nobody: cutOffOwner(id) });
  }
  await sql.run(FORGET, { id });
  if (lane !== null) await sql.run('DELETE FROM lanes WHERE id = @lane', { lane });
}

export async function finishErasures(
  sql: Sql,
  { ids, remains, now }: { ids: readonly string[]; remains: readonly string[]; now: number },
): Promise<void> {
  await sql.run(FINISH, { ids, remains: JSON.stringify(remains), now });
}

function erase(
  sql: Sql,
  { table, condition, lane, ids }: { table: string; condition: string; lane: LaneId; ids: readonly string[] },
): Promise<number> {
  const text = `DELETE FROM ${table} WHERE ${rowsIn(condition)}`;
  return sql.run(text, { lane, ids });
}

/** A statement of an erasure, for these rows. */
export const rowsIn = (text: string): string =>
  text
    .replaceAll(':ids', '(SELECT unnest(@ids::text[]))')
    .replaceAll(':places', OF_LANE_AT)
    .replaceAll(':place', 'ctid::text');

/** Not by the place alone, which another row may have by now; and by no index of lanes, which would find all that is left. */
const OF_LANE_AT = "ctid = ANY(@ids::tid[]) AND lane || '' = @lane";

/** Of two workers on one erasure, one counts after the other. */
async function lockErasure(sql: Sql, id: string): Promise<ErasureRow> {
  const row = await sql.get<ErasureRow>('SELECT * FROM erasures WHERE id = @id FOR NO KEY UPDATE', { id });
  if (row === null) throw new Error(`there is no erasure ${id}`);
  return row;
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

const COUNT = `UPDATE erasures SET state = 'erasing', counts = @counts::jsonb WHERE id = @id`;

/** A filter for nobody finds nothing; one without a user would find everybody. */
const FORGET_IN_FILTERS = `
  UPDATE replays SET filter = jsonb_set(filter, '{userId}', to_jsonb(@nobody::text))
  WHERE tenant = @tenant AND filter->>'userId' = @userId`;

const FORGET = `
  UPDATE erasures SET state = 'compacting', owner_kind = NULL, owner_id = NULL, lane = NULL WHERE id = @id`;

const FINISH = `
  UPDATE erasures SET state = 'erased', remains = @remains::jsonb, erased_at = @now
  WHERE id = ANY(@ids::text[]) AND state = 'compacting'`;
