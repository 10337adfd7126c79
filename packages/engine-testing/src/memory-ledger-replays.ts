import {
  type BatchState,
  type LaneId,
  type Memory,
  type Millis,
  type NewReplay,
  type Replay,
  type ReplayCreated,
  type ReplayFilter,
  type ReplayStep,
  type ReplayStore,
  type TenantId,
  withoutOwner,
} from '@slowwave/engine';
import { withReservation } from '@slowwave/engine/storing';
import { replayBatches, viewOf } from './memory-ledger-batches.ts';
import { pageOf } from './memory-ledger-page.ts';
import { type BatchRow, change, type ReplayRow, rowOf, type State } from './memory-ledger-state.ts';
import { isOfUser } from './memory-ledger-turns.ts';

export function memoryReplays(state: State): ReplayStore {
  return {
    match: async (tenant, filter, limit) => {
      const found = matching(state, tenant, filter);
      return { matched: found.length, batches: found.slice(0, limit).map(viewOf) };
    },
    size: async (tenant, filter) => {
      const found = matching(state, tenant, filter);
      return {
        batches: found.length,
        backfill: found.filter(({ priority }) => priority === 'backfill').length,
        tokens: found.reduce((sum, { tokens }) => sum + tokens, 0),
        messages: found.reduce((sum, { messageCount }) => sum + messageCount, 0),
        owners: new Set(found.map(({ lane }) => lane)).size,
      };
    },
    create: async (replay) => create(state, replay),
    get: async (tenant, id) => {
      const row = state.replays.get(id);
      return row?.tenant === tenant ? replayOf(row) : null;
    },
    list: async (tenant, page) => {
      const rows = [...state.replays.values()].filter((row) => row.tenant === tenant);
      const paged = pageOf(rows, (row) => ({ order: row.createdAt, id: row.id }), page);
      return { ...paged, results: paged.results.map(replayOf) };
    },
    take: async (now, until) => take(state, now, until),
    advance: async (id, how) => advance(state, rowOf(state.replays, id), how),
    batches: async (id, limit) => batchesOf(state, id).slice(0, limit).map(viewOf),
    states: async (id) => {
      const counts: Partial<Record<BatchState, number>> = {};
      for (const batch of batchesOf(state, id)) counts[batch.state] = (counts[batch.state] ?? 0) + 1;
      return counts;
    },
    move: async (id, step) => move(rowOf(state.replays, id), step),
    reserve: async (id, asked) => {
      const row = rowOf(state.replays, id);
      const reserved = withReservation(row, asked);
      if (reserved === null) return null;
      row.reserved = reserved;
      return reserved.at(-1)?.tokens ?? null;
    },
    settle: async (id, { id: call, tokens }) => {
      const row = rowOf(state.replays, id);
      row.reserved = row.reserved.filter((one) => one.id !== call);
      row.spent += tokens;
    },
    forget: async (tenant, owner) => {
      for (const row of state.replays.values()) {
        const rest = row.tenant === tenant ? withoutOwner(row, owner) : null;
        if (rest !== null) change(row, { ...rest, key: null });
      }
    },
    lives: async (lane, before, { after, limit }) => {
      const memories = [...state.memories.values()].filter(
        (memory) => memory.lane === lane && memory.createdAt < before && (after === null || memory.id > after),
      );
      return memories
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit)
        .map((memory) => ({ memory, events: eventsOf(state, memory, before) }));
    },
  };
}

function create(state: State, replay: NewReplay): ReplayCreated {
  const before = knownKey(state, replay);
  if (before !== null) return before;
  const { id, tenant, kind, filter, changes, matched, batchIds, idempotency, now } = replay;
  state.replays.set(id, {
    ...{ id, tenant, kind, filter, changes, matched, key: idempotency, createdAt: now, dueAt: now },
    state: 'preparing',
    spent: 0,
    reserved: [],
    failure: null,
    result: null,
    finishedAt: null,
    expiresAt: null,
    batchIds: new Set(batchIds),
    after: { at: Number.NEGATIVE_INFINITY, id: '' },
  });
  return { kind: 'stored' };
}

function knownKey(state: State, { tenant, idempotency }: NewReplay): ReplayCreated | null {
  if (idempotency === null) return null;
  const known = [...state.replays.values()].find((row) => row.tenant === tenant && row.key?.key === idempotency.key);
  if (known === undefined) return null;
  return known.key?.bodyHash === idempotency.bodyHash ? { kind: 'repeated', id: known.id } : { kind: 'conflict' };
}

function take(state: State, now: Millis, until: Millis): Replay | null {
  const due = [...state.replays.values()].filter((row) => row.dueAt !== null && row.dueAt <= now);
  const [first] = due.sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0));
  if (first === undefined) return null;
  first.dueAt = until;
  return replayOf(first);
}

function advance(state: State, row: ReplayRow, { limit, now }: { limit: number; now: Millis }) {
  if (row.state !== 'preparing') return { replayed: [], nudges: [], cleared: [], more: false };
  const rest = matching(state, row.tenant, row.filter).filter((batch) => compare(batch, row.after) > 0);
  const slice = rest.slice(0, limit);
  const ids = slice.map((batch) => batch.id);
  const { replayed, nudges } = replayBatches(state, { tenant: row.tenant, ids, states: row.filter.states }, now);
  for (const id of replayed) row.batchIds.add(id);
  const last = slice.at(-1);
  if (last !== undefined) row.after = { at: last.acceptedAt, id: last.id };
  const more = rest.length > limit;
  if (!more) row.state = 'running';
  return { replayed, nudges, cleared: clearedBy(state, replayed), more };
}

function clearedBy(state: State, replayed: readonly string[]): LaneId[] {
  const lanes = new Set(replayed.map((id) => rowOf(state.batches, id).lane));
  for (const { lane, state: now } of state.batches.values()) if (now === 'parked') lanes.delete(lane);
  return [...lanes];
}

function move(row: ReplayRow, { from, to, ...fields }: ReplayStep): boolean {
  if (row.state !== from) return false;
  change(row, { ...fields, state: to });
  return true;
}

/** Oldest first. */
function matching(state: State, tenant: TenantId, filter: ReplayFilter): BatchRow[] {
  return [...state.batches.values()]
    .filter((batch) => batch.tenant === tenant && fits(state, batch, filter))
    .sort(byAge);
}

function fits(state: State, batch: BatchRow, filter: ReplayFilter): boolean {
  return (
    filter.states.includes(batch.state) &&
    (filter.ids === undefined || filter.ids.includes(batch.id)) &&
    (filter.lane === undefined || batch.lane === filter.lane) &&
    isOfUser(state, batch.lane, filter.userId) &&
    (filter.errorCode === undefined || batch.failure?.code === filter.errorCode) &&
    (filter.since === undefined || batch.acceptedAt >= filter.since) &&
    (filter.until === undefined || batch.acceptedAt < filter.until)
  );
}

const byAge = (a: BatchRow, b: BatchRow): number => compare(a, { at: b.acceptedAt, id: b.id });

const compare = (batch: BatchRow, after: { at: Millis; id: string }): number =>
  batch.acceptedAt - after.at || (batch.id === after.id ? 0 : batch.id < after.id ? -1 : 1);

const batchesOf = (state: State, id: string): BatchRow[] =>
  [...rowOf(state.replays, id).batchIds].flatMap((batch) => state.batches.get(batch) ?? []).sort(byAge);

const eventsOf = (state: State, memory: Memory, before: Millis) =>
  state.events.filter((event) => event.memoryId === memory.id && event.recordedAt < before);

export function replayOf({ key, batchIds, dueAt, after, ...replay }: ReplayRow): Replay {
  return replay;
}
