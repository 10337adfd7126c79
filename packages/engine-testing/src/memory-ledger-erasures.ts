import type { Erasure, ErasureStore, LaneId, NewErasure, Owner, TenantId } from '@slowwave/engine';
import { dropBulk } from './memory-ledger-bulk.ts';
import { endLinks, forgetInKeys } from './memory-ledger-keys.ts';
import { takeReceipts } from './memory-ledger-receipts.ts';
import { change, type LaneRow, rowOf, type State } from './memory-ledger-state.ts';
import { takeCases } from './memory-ledger-suites.ts';
import { takeTaskStates } from './memory-ledger-task-states.ts';
import { forgetTopics } from './memory-ledger-topics.ts';
import { findLane } from './memory-ledger-turns.ts';
import { forgetInWebhooks, takeDeliveries } from './memory-ledger-webhooks.ts';

export function memoryErasures(state: State): ErasureStore {
  return {
    request: async (tenant, owner, given) => request(state, { tenant, owner }, given),
    get: async (tenant, id) => {
      const erasure = state.erasures.get(id);
      return erasure?.tenant === tenant && !erasure.departed ? erasure : null;
    },
    open: async (limit) => [...state.erasures.values()].filter(({ state: at }) => at !== 'erased').slice(0, limit),
    standing: async (lane) => state.lanes.get(lane)?.erasure === null,
    slice: async (id, limit) => slice(state, rowOf(state.erasures, id), limit),
    forgetOwner: async (id) => forgetOwner(state, rowOf(state.erasures, id)),
    compact: async () => ({ done: true, remains: [] }),
    finish: async (ids, { remains, now }) => {
      for (const id of ids) set(state, id, { state: 'erased', remains, erasedAt: now });
    },
  };
}

function request(state: State, of: { tenant: TenantId; owner: Owner }, { id, ownerHash, now }: NewErasure): Erasure {
  const { tenant, owner } = of;
  if (owner.kind === 'user') {
    forgetInKeys(state, { tenant, userId: owner.id, now });
    endLinks(state, { tenant, userId: owner.id });
    forgetInWebhooks(state, tenant, owner.id);
  }
  forgetTopics(state, { tenant, ownerHash, agentId: owner.kind === 'agent' ? owner.id : null }, now);
  const lane = findLane(state, tenant, owner);
  const before = [...state.erasures.values()].find(
    (erasure) => erasure.tenant === tenant && erasure.ownerHash === ownerHash && erasure.state !== 'erased',
  );
  if (lane === null && before !== undefined) return before;
  if (lane !== null) cutOff(lane, id);
  const erasure: Erasure = {
    ...{ id, tenant, owner, ownerHash, lane: lane?.id ?? null, state: 'requested' },
    ...{ counts: {}, remains: [], requestedAt: now, erasedAt: null, departed: false },
  };
  state.erasures.set(id, erasure);
  return erasure;
}

export function cutOff(lane: LaneRow, id: string): void {
  const idle = { state: 'idle', consolidationId: null, dueAt: null } as const;
  change(lane, { ...idle, erasure: id, epoch: lane.epoch + 1, generation: lane.generation + 1 });
}

const set = (state: State, id: string, fields: Partial<Erasure>): void => {
  state.erasures.set(id, { ...rowOf(state.erasures, id), ...fields });
};

/** One kind of row after the other; what hangs on a row goes with it. */
function slice(state: State, { id, tenant, lane, counts, departed }: Erasure, limit: number): { more: boolean } {
  if (lane === null) return { more: false };
  for (const [table, take] of Object.entries(TAKES)) {
    const gone = take(state, lane, limit);
    if (gone === 0) continue;
    set(state, id, { state: 'erasing', counts: { ...counts, [table]: (counts[table] ?? 0) + gone } });
    if (table === 'batches' && departed) state.accepted.set(tenant, (state.accepted.get(tenant) ?? 0) - gone);
    else if (table === 'batches') state.erased.set(tenant, (state.erased.get(tenant) ?? 0) + gone);
    return { more: true };
  }
  return { more: false };
}

const TAKES = {
  webhook_deliveries: takeDeliveries,
  receipts: takeReceipts,
  graph_relations: takeRelations,
  graph_statements: takeStatements,
  graph_entities: takeEntities,
  memories: takeMemories,
  consolidations: takeConsolidations,
  batches: takeBatches,
  reviews: takeReviews,
  vectors: takeVectors,
  undos: takeUndos,
  task_states: takeTaskStates,
  suite_cases: takeCases,
  canary_lanes: takeCanaryLanes,
};

function takeMemories(state: State, lane: LaneId, limit: number): number {
  const ids = [...state.memories.values()].filter((memory) => memory.lane === lane).map(({ id }) => id);
  const gone = new Set(ids.slice(0, limit));
  for (const id of gone) state.memories.delete(id);
  for (const [id, { consolidationId, operation }] of state.reviews)
    if (consolidationId === null && gone.has(operation.memoryId)) state.reviews.delete(id);
  for (const [key, { memoryId }] of state.credits) if (gone.has(memoryId)) state.credits.delete(key);
  for (const [seq, entry] of state.outbox) if (gone.has(entry.memoryId)) state.outbox.delete(seq);
  drop(state.events, (event) => gone.has(event.memoryId));
  drop(state.tombstones, ({ tombstone }) => gone.has(tombstone.memoryId));
  return gone.size;
}

function takeRelations(state: State, lane: LaneId, limit: number): number {
  return takeOf(state.graph.relations, lane, limit);
}

function takeStatements(state: State, lane: LaneId, limit: number): number {
  return takeOf(state.graph.statements, lane, limit);
}

function takeEntities(state: State, lane: LaneId, limit: number): number {
  drop(state.graph.proposals, (proposal) => proposal.lane === lane);
  return takeOf(state.graph.entities, lane, limit);
}

function takeOf(table: Map<string, { readonly lane: LaneId }>, lane: LaneId, limit: number): number {
  const gone = [...table].filter(([, row]) => row.lane === lane).slice(0, limit);
  for (const [id] of gone) table.delete(id);
  return gone.length;
}

function takeConsolidations(state: State, lane: LaneId, limit: number): number {
  const ids = [...state.consolidations.values()].filter((row) => row.lane === lane).map(({ id }) => id);
  const gone = new Set(ids.slice(0, limit));
  for (const id of gone) {
    state.graph.studies.delete(id);
    const { consolidations, figures, answers, plans, pinnedSummaries, nights } = state;
    for (const table of [consolidations, figures, answers, plans, pinnedSummaries, nights]) table.delete(id);
  }
  for (const [id, review] of state.reviews) if (gone.has(review.consolidationId ?? '')) state.reviews.delete(id);
  return gone.size;
}

function takeReviews(state: State, lane: LaneId, limit: number): number {
  return takeOf(state.reviews, lane, limit);
}

function takeBatches(state: State, lane: LaneId, limit: number): number {
  const ids = state.batches.ofLane(lane).map(({ id }) => id);
  const gone = new Set(ids.slice(0, limit));
  for (const id of gone) state.batches.delete(id);
  for (const [id, { message }] of state.messages) if (gone.has(message.batchId)) state.messages.delete(id);
  for (const [key, { batchId }] of state.keys) if (gone.has(batchId)) state.keys.delete(key);
  forgetInReplays(state, gone);
  for (const { batchIds } of state.replays.values()) for (const id of gone) batchIds.delete(id);
  return gone.size;
}

/** What was found out with the batches goes, and so do the copies of a what-if. */
export function forgetInReplays(state: State, batchIds: ReadonlySet<string>): void {
  for (const row of state.replays.values()) {
    if (![...row.batchIds].some((id) => batchIds.has(id))) continue;
    change(row, { result: null });
    if (row.kind === 'what_if' && row.state !== 'discarded') change(row, { state: 'discarding', dueAt: 0 });
  }
}

function takeVectors(state: State, lane: LaneId, limit: number): number {
  const keys = [...state.vectors.keys()].filter((key) => (JSON.parse(key) as string[])[0] === lane).slice(0, limit);
  for (const key of keys) state.vectors.delete(key);
  drop(state.summaries, (summary) => summary.lane === lane);
  drop(state.tellings, (telling) => telling.lane === lane);
  return keys.length;
}

function takeUndos(state: State, lane: LaneId): number {
  const before = state.undos.length;
  drop(state.undos, (undo) => undo.lane === lane);
  return before - state.undos.length;
}

function takeCanaryLanes(state: State, lane: LaneId): number {
  const gone = [...state.canaryLanes].filter(([, row]) => row.lane === lane);
  for (const [key] of gone) state.canaryLanes.delete(key);
  return gone.length;
}

/** What was paid stays counted, without saying for whom. */
function forgetOwner(state: State, { id, lane, departed }: Erasure): void {
  if (lane !== null) {
    const left = [...state.batches.values(), ...state.memories.values(), ...state.consolidations.values()];
    if (left.some((row) => row.lane === lane)) throw new Error(`rows of lane ${lane} are left`);
    state.lanes.delete(lane);
    dropBulk(state, lane);
    state.aside.delete(lane);
    state.graph.turns.delete(lane);
    drop(state.summaries, (summary) => summary.lane === lane);
    state.holds = state.holds.filter(({ who }) => who !== lane);
    state.calls.forEach((call, i) => {
      if (call.lane === lane) state.calls[i] = { ...call, lane: '' as LaneId, consolidationId: null, kept: false };
    });
  }
  if (departed) {
    state.erasures.delete(id);
    state.uncompacted += 1;
  } else set(state, id, { state: 'compacting', owner: null, lane: null });
}

export function drop<T>(rows: T[], isGone: (row: T) => boolean): void {
  const kept = rows.filter((row) => !isGone(row));
  rows.splice(0, rows.length, ...kept);
}
