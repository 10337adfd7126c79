import {
  batchNotice,
  type LaneId,
  type LeftToDo,
  type Millis,
  type OutboxEntry,
  type OutboxStore,
  type Projected,
  type Turn,
} from '@slowwave/engine';
import { countSaying, LEFT_MAX, sameCredits, sourcesOf } from '@slowwave/engine/storing';
import { creditsOf } from './memory-ledger-receipts.ts';
import {
  isWithin,
  LOST,
  NOTHING_LEFT,
  projectedSpeech,
  reviseSpeech,
  saidInLane,
  spokenOf,
  unprojectedIn,
} from './memory-ledger-speech.ts';
import { type BatchRow, change, type OutboxRow, putAgain, rowOf, type State } from './memory-ledger-state.ts';
import { dueSummary } from './memory-ledger-summaries.ts';
import { isStanding, pinnedOf } from './memory-ledger-turns.ts';
import { notifyWebhooks } from './memory-ledger-webhooks.ts';

export function memoryOutbox(state: State): OutboxStore {
  return {
    pending: async (limit, left = NOTHING_LEFT) => {
      const isLeft = ({ consolidationId }: OutboxRow): boolean =>
        consolidationId !== null && isWithin(left, rowOf(state.consolidations, consolidationId).appliedAt);
      return entriesWhere(state, (row) => !state.aside.has(row.lane) && !isLeft(row)).slice(0, limit);
    },
    ofLane: async (lane, limit) => entriesWhere(state, (row) => row.lane === lane).slice(0, limit),
    setAside: async (lanes) => {
      const standing = lanes.filter(({ lane }) => state.lanes.get(lane)?.erasure === null);
      for (const one of standing) state.aside.set(one.lane, { ...one });
    },
    takeUp: async (lanes) => {
      for (const lane of lanes) state.aside.delete(lane);
    },
    aside: async (until, limit) =>
      [...state.aside.values()]
        .filter(({ notBefore }) => notBefore <= until)
        .sort((a, b) => a.notBefore - b.notBefore || (a.lane < b.lane ? -1 : 1))
        .slice(0, limit),
    countAside: async () => state.aside.size,
    ofMemories: async (memoryIds) => entriesWhere(state, (row) => memoryIds.includes(row.memoryId)),
    ofConsolidation: async (turn, summaryEvery) => leftOf(state, turn, summaryEvery),
    clear: async (projected, now) => clear(state, projected, now),
    refill: async () => refill(state),
    reproject: async (lane) => reproject(state, lane),
    refilling: async () => [...state.outbox.keys()].some((seq) => seq <= state.counters.refilledTo),
  };
}

function entriesWhere(state: State, isWanted: (row: OutboxRow) => boolean): OutboxEntry[] {
  const rows = [...state.outbox.values()].filter(isWanted).sort((a, b) => a.seq - b.seq);
  return rows.map(({ seq, memoryId, tenant, lane }) => ({ seq, memoryId, tenant, lane }));
}

function leftOf(state: State, turn: Turn, summaryEvery: number | null): LeftToDo {
  const { consolidationId: id, lane } = turn;
  const entries = entriesWhere(state, (row) => row.consolidationId === id);
  const memories = entries.flatMap(({ memoryId, lane: of }) => {
    const memory = state.memories.get(memoryId);
    return memory === undefined || !isStanding(state, of) ? [] : [memory];
  });
  const batches = unprojectedIn(state).filter(({ consolidationId }) => consolidationId === id);
  const isMore = entries.length > LEFT_MAX;
  return {
    entries,
    memories: isMore ? null : memories,
    said: isMore ? null : saidInLane(state, lane, sourcesOf(memories)),
    credits: isMore
      ? null
      : creditsOf(
          state,
          memories.map((memory) => memory.id),
        ),
    batches: batches.map((row) => spokenOf(state, row)),
    summary: summaryEvery === null ? null : dueSummary(state, turn, summaryEvery),
  };
}

function clear(state: State, { seqs, batches, from }: Projected, now: Millis): Millis[] | null {
  const found = from === null ? null : saidInLane(state, from.lane, from.messageIds);
  if (from !== null && found !== null && (!found.stands || countSaying(found.said) < from.saying)) return null;
  if (from !== null && !sameCredits(creditsOf(state, from.memoryIds), from.credits)) return null;
  const touched = new Set(projectedSpeech(state, batches));
  for (const seq of seqs) {
    const consolidationId = state.outbox.get(seq)?.consolidationId ?? null;
    if (consolidationId !== null) touched.add(consolidationId);
    state.outbox.delete(seq);
  }
  return [...touched].flatMap((id) => finish(state, id, now));
}

/** A consolidation whose memories and messages are all in the index: its batches are what apply said. */
function finish(state: State, consolidationId: string, now: Millis): Millis[] {
  if (entriesWhere(state, (row) => row.consolidationId === consolidationId).length > 0) return [];
  if (unprojectedIn(state).some((row) => row.consolidationId === consolidationId)) return [];
  const applied = pinnedOf(state, consolidationId).filter(({ stage }) => stage === 'project');
  for (const batch of applied)
    change(batch, { state: batch.outcome ?? 'consolidated', stage: 'done', searchableAt: now });
  for (const batch of applied) notifyWebhooks(state, batch.tenant, [batchNotice(batch, now)]);
  return applied.map(({ acceptedAt }) => acceptedAt);
}

function reproject(state: State, lane: LaneId): void {
  for (const { seq, consolidationId, lane: of } of state.outbox.values())
    if (of === lane && consolidationId === null) state.outbox.delete(seq);
  for (const memory of state.memories.values()) if (memory.lane === lane) putAgain(state, memory);
  for (const batch of state.batches.ofLane(lane)) loseSpeech(batch);
  for (const row of [...state.graph.entities.values(), ...state.graph.relations.values()]) {
    if (row.lane !== lane || !row.counts) continue;
    Object.assign(row, { unprojectedAt: row.unprojectedAt ?? 0, revision: row.revision + 1 });
  }
}

function loseSpeech(batch: BatchRow): void {
  if (batch.outcome === null) return;
  reviseSpeech(batch, null);
  change(batch, { projectedRevision: LOST });
}

function refill(state: State): number {
  for (const { seq, consolidationId } of state.outbox.values()) {
    if (consolidationId === null) state.outbox.delete(seq);
  }
  for (const memory of state.memories.values()) putAgain(state, memory);
  state.counters.refilledTo = state.counters.outboxSeq;
  for (const batch of state.batches.values()) loseSpeech(batch);
  return state.memories.size;
}
