import type { Compaction, Erasure, ErasureStore, OwnerKind, TenantId } from '@slowwave/engine';
import { type Access, lookup, read, storeOf, write } from './access.ts';
import { cutOffOwner, ERASING } from './erasing.ts';
import { forgetUserInKeys } from './keys.ts';
import { lockOwner } from './lanes.ts';
import type { ColumnsOf } from './rows/columns.ts';
import { all, allAs, firstAs, idsOf, run, type Script } from './script.ts';
import { lockLane, standingLanes } from './turn.ts';
import { count } from './usage.ts';
import { forgetUserInWebhooks } from './webhooks.ts';

/** `compact` overwrites what is free to be overwritten. No script: it runs outside of all transactions. */
export const erasureStore = (access: Access, compact: () => Promise<Compaction>): ErasureStore => ({
  ...scripted(access),
  compact,
});

const scripted = storeOf<Omit<ErasureStore, 'compact'>>('erasures', {
  /** Stores the erasure and cuts the owner's lane off: claims, turns and writers no longer get hold of it. */
  request: write(function* (tenant, owner, { id, ownerHash, now }) {
    const { kind, id: ownerId } = owner;
    if (kind === 'user') {
      yield* forgetUserInKeys({ tenant, userId: ownerId, now });
      yield* forgetUserInWebhooks(tenant, ownerId);
    }
    const lane = yield* lockOwner({ tenant, owner });
    const before = lane === null ? yield* firstAs(erasureFrom, SELECT_UNFINISHED, { tenant, ownerHash }) : null;
    if (before !== null) return before;
    yield* run(INSERT, { id, tenant, kind, ownerId, ownerHash, lane: lane?.id ?? null, now });
    if (lane !== null) yield* run(CUT_OFF, { lane: lane.id, id, ownerId: cutOffOwner(id) });
    return yield* lockErasure(id);
  }),
  get: read((tenant, id) =>
    firstAs(erasureFrom, 'SELECT * FROM erasures WHERE tenant = @tenant AND id = @id', { tenant, id }),
  ),
  /** Oldest first. */
  open: read((limit) => {
    const text = "SELECT * FROM erasures WHERE state <> 'erased' ORDER BY requested_at, id LIMIT @limit";
    return allAs(erasureFrom, text, { limit });
  }),
  standing: lookup(function* (lane) {
    return (yield* standingLanes([lane])).has(lane);
  }),
  /** The next rows of one kind go, and are counted. */
  slice: write(function* (id, limit) {
    const { tenant, lane, counts } = yield* lockErasure(id);
    if (lane === null) return { more: false };
    yield* lockLane(lane);
    for (const { pick, changes = [], deletes } of ERASING) {
      const ids = yield* idsOf(pick, { lane, limit });
      if (ids.length === 0) continue;
      for (const change of changes) yield* run(change, { ids });
      const gone: Record<string, number> = {};
      for (const [table, condition] of deletes) {
        gone[table] = yield* run(`DELETE FROM ${table} WHERE ${condition}`, { lane, ids });
      }
      yield* run("UPDATE erasures SET state = 'erasing', counts = @counts::jsonb WHERE id = @id", {
        id,
        counts: JSON.stringify(addCounts(counts, gone)),
      });
      yield* count([{ tenant, name: 'erased', value: gone.batches ?? 0 }]);
      return { more: true };
    }
    return { more: false };
  }),
  /** What still referred to the lane would keep its row from going. */
  forgetOwner: write(function* (id) {
    const { lane, tenant, owner } = yield* lockErasure(id);
    if (owner?.kind === 'user') yield* forgetInFilters(tenant, { userId: owner.id, nobody: cutOffOwner(id) });
    yield* run(FORGET, { id });
    if (lane !== null) yield* run('DELETE FROM lanes WHERE id = @lane', { lane });
  }),
  finish: write(function* (ids, { remains, now }) {
    yield* run(
      `UPDATE erasures SET state = 'erased', remains = @remains::jsonb, erased_at = @now
       WHERE id IN :ids AND state = 'compacting'`,
      { ids, remains: JSON.stringify(remains), now },
    );
  }),
});

const SELECT_UNFINISHED = `
  SELECT * FROM erasures WHERE tenant = @tenant AND owner_hash = @ownerHash AND state <> 'erased'
  ORDER BY requested_at DESC LIMIT 1`;

const INSERT = `
  INSERT INTO erasures (id, tenant, owner_kind, owner_id, owner_hash, lane, state, counts, remains, requested_at)
  VALUES (@id, @tenant, @kind, @ownerId, @ownerHash, @lane, 'requested', '{}', '[]', @now)`;

const CUT_OFF = `
  UPDATE lanes SET owner_id = @ownerId, erasure = @id, state = 'idle', epoch = epoch + 1, generation = generation + 1,
    consolidation_id = NULL, due_at = NULL, pending = 0, pending_tokens = 0
  WHERE id = @lane`;

/** The counts with those of one slice added. */
function addCounts(counts: Erasure['counts'], gone: Readonly<Record<string, number>>): Erasure['counts'] {
  const sum: Record<string, number> = { ...counts };
  for (const [table, rows] of Object.entries(gone)) if (rows > 0) sum[table] = (sum[table] ?? 0) + rows;
  return sum;
}

/** A filter for nobody finds nothing; one without a user would find everybody. */
function* forgetInFilters(
  tenant: TenantId,
  { userId, nobody }: { readonly userId: string; readonly nobody: string },
): Script<void> {
  const replays = yield* all<{ id: string; filter: string }>(
    "SELECT id, filter FROM replays WHERE tenant = @tenant AND filter ->> 'userId' = @userId ORDER BY id FOR NO KEY UPDATE",
    { tenant, userId },
  );
  for (const { id, filter } of replays) {
    const forgotten = JSON.stringify({ ...JSON.parse(filter), userId: nobody });
    yield* run('UPDATE replays SET filter = @forgotten::jsonb WHERE id = @id', { id, forgotten });
  }
}

const FORGET = `
  UPDATE erasures SET state = 'compacting', owner_kind = NULL, owner_id = NULL, lane = NULL WHERE id = @id`;

/** Of two workers on one erasure, one counts after the other. */
function* lockErasure(id: string): Script<Erasure> {
  const erasure = yield* firstAs(erasureFrom, 'SELECT * FROM erasures WHERE id = @id FOR NO KEY UPDATE', { id });
  if (erasure === null) throw new Error(`there is no erasure ${id}`);
  return erasure;
}

interface ErasureRow extends ColumnsOf<Omit<Erasure, 'owner'>, 'counts' | 'remains'> {
  readonly owner_kind: OwnerKind | null;
  readonly owner_id: string | null;
}

const erasureFrom = (row: ErasureRow): Erasure => ({
  id: row.id,
  tenant: row.tenant,
  owner: row.owner_kind === null || row.owner_id === null ? null : { kind: row.owner_kind, id: row.owner_id },
  ownerHash: row.owner_hash,
  lane: row.lane,
  state: row.state,
  counts: JSON.parse(row.counts),
  remains: JSON.parse(row.remains),
  requestedAt: row.requested_at,
  erasedAt: row.erased_at,
});
