import {
  type MemoryEvent,
  type Millis,
  type ReplayedBatch,
  type TenantId,
  type Touched,
  UNDONE_NOTE,
  type Undoing,
  type Undone,
  type UndoStore,
} from '@slowwave/engine';
import { retakeGraph, showWithGraph } from './memory-ledger-graph-writes.ts';
import { write as writeMemories } from './memory-ledger-memories.ts';
import { pageOf } from './memory-ledger-page.ts';
import { projectSpeechAgain } from './memory-ledger-speech.ts';
import { change, rowOf, type State } from './memory-ledger-state.ts';
import { forgetBegunSummaries, forgetSummaries } from './memory-ledger-summaries.ts';
import { isOfUser, isStanding } from './memory-ledger-turns.ts';

export function memoryUndos(state: State): UndoStore {
  return {
    get: async (tenant, id) =>
      state.undos.find((undo) => undo.id === id && undo.tenant === tenant && isStanding(state, undo.lane)) ?? null,
    list: async (tenant, { userId }, page) => {
      const rows = state.undos.filter((undo) => undo.tenant === tenant && isOfUser(state, undo.lane, userId));
      return pageOf(rows, (undo) => ({ order: undo.at, id: undo.id }), page);
    },
    ofLane: async (lane) => state.undos.filter((undo) => undo.lane === lane),
    touched: async (tenant, by) => [
      ...new Set(eventsOf(state, tenant).flatMap((event) => (isBy(state, event, by) ? [event.memoryId] : []))),
    ],
    events: async (tenant, memoryIds) => {
      const ids = new Set(memoryIds);
      return eventsOf(state, tenant).filter((event) => ids.has(event.memoryId));
    },
    appliedAfter: async (lane, after) => {
      const applied = [...state.consolidations.values()].filter(
        (one) => one.lane === lane && one.appliedAt !== null && one.appliedAt > after,
      );
      return applied.toSorted((a, b) => (a.appliedAt ?? 0) - (b.appliedAt ?? 0)).map(({ id }) => id);
    },
    replayed: async (tenant, ids) => replayedOf(state, tenant, ids),
    write: async (tenant, undoing) => write(state, tenant, undoing),
  };
}

const eventsOf = (state: State, tenant: TenantId): MemoryEvent[] =>
  state.events.filter((event) => state.memories.get(event.memoryId)?.tenant === tenant);

function isBy(state: State, event: MemoryEvent, by: Touched): boolean {
  if ('consolidations' in by) return by.consolidations.includes(event.consolidationId ?? '');
  if ('undo' in by) return event.retraction?.undoId === by.undo;
  return rowOf(state.memories, event.memoryId).lane === by.lane && event.recordedAt > by.after;
}

export function write(state: State, tenant: TenantId, undoing: Undoing): Undone {
  const { undo, changes, tombstones, undone, redone } = undoing;
  const next = state.undos.filter(({ lane }) => lane === undo.lane).length + 1;
  const isStanding = state.lanes.get(undo.lane)?.erasure === null;
  if (!isStanding || undo.number !== next || hasStray(state, undoing)) return { kind: 'conflict' };
  if (replayedOf(state, tenant, redone).length > 0) return { kind: 'conflict' };
  const written = writeMemories(state, tenant, { changes, tombstones: [], now: undo.at });
  if (written.kind === 'conflict') return { kind: 'conflict' };
  const changed = new Set(changes.map(({ memory }) => memory.id));
  const kept = state.tombstones.filter(({ tombstone }) => !changed.has(tombstone.memoryId));
  const made = tombstones.map((tombstone) => ({ lane: undo.lane, tombstone }));
  state.tombstones.splice(0, state.tombstones.length, ...kept, ...made);
  const turned = [
    ...undone.flatMap((id) => undoConsolidation(state, id, undo.at)),
    ...redone.flatMap((id) => redoConsolidation(state, id, undo.at)),
  ];
  projectSpeechAgain(state, new Set(turned), undo.at);
  forgetSummaries(state, undo.lane);
  forgetBegunSummaries(state, undo.lane);
  state.undos.push(undo);
  retakeGraph(state, undoing);
  showWithGraph(state, undo.lane, undo.at);
  return { kind: 'written' };
}

function replayedOf(state: State, tenant: TenantId, ids: readonly string[]): readonly ReplayedBatch[] {
  const consolidations = ids.map((id) => rowOf(state.consolidations, id)).filter((row) => row.tenant === tenant);
  const replayed = consolidations.flatMap(({ id: consolidationId, batchIds }) =>
    batchIds
      .filter((id) => state.batches.get(id)?.consolidationId !== consolidationId)
      .map((batchId) => ({ batchId, consolidationId })),
  );
  return replayed.sort((a, b) => (a.batchId < b.batchId ? -1 : 1));
}

/** An undone consolidation has changed more than what is undone. */
function hasStray(state: State, { changes, undone, keepsReviews }: Undoing): boolean {
  const changed = new Set(changes.map(({ memory }) => memory.id));
  return state.events.some(
    ({ consolidationId, memoryId, actor }) =>
      undone.includes(consolidationId ?? '') &&
      !changed.has(memoryId) &&
      !(keepsReviews === true && actor === 'review'),
  );
}

/** Answers with its batches. */
function undoConsolidation(state: State, id: string, now: Millis): readonly string[] {
  const turned: string[] = [];
  change(rowOf(state.consolidations, id), { state: 'undone' });
  for (const batch of state.batches.values()) {
    if (batch.consolidationId !== id || batch.outcome === null) continue;
    change(batch, { state: 'undone', stage: 'done' });
    turned.push(batch.id);
  }
  for (const review of state.reviews.values()) {
    const waits = review.consolidationId === id && review.state === 'pending';
    if (waits) change(review, { state: 'stale', note: UNDONE_NOTE, settledAt: now });
  }
  return turned;
}

function redoConsolidation(state: State, id: string, now: Millis): readonly string[] {
  const turned: string[] = [];
  change(rowOf(state.consolidations, id), { state: 'applied' });
  for (const batch of state.batches.values()) {
    if (batch.consolidationId !== id || batch.state !== 'undone' || batch.outcome === null) continue;
    change(batch, { state: batch.outcome, searchableAt: batch.searchableAt ?? now });
    turned.push(batch.id);
  }
  for (const review of state.reviews.values()) {
    const waited = review.consolidationId === id && review.state === 'stale' && review.note === UNDONE_NOTE;
    if (waited) change(review, { state: 'pending', note: null, settledAt: null });
  }
  return turned;
}
