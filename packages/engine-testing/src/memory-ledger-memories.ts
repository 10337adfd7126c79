import {
  type Application,
  type Applied,
  attackNotice,
  type LaneId,
  type MemoryChange,
  type MemoryStore,
  memoryNotices,
  type NightChanges,
  type Proposal,
  type TenantId,
  type Tombstone,
  type Turn,
  type Written,
} from '@slowwave/engine';
import { hasConclusions, proposalOver, withTurned } from '@slowwave/engine/storing';
import { forgetWith, noteWishes } from './memory-ledger-forgetting.ts';
import { openStudy } from './memory-ledger-graph-studies.ts';
import { refoldGraph, showWithGraph } from './memory-ledger-graph-writes.ts';
import { memoryReads } from './memory-ledger-reads.ts';
import { blankQuestions, retractionsOf } from './memory-ledger-receipts.ts';
import { findSpeech, reviseSpeech } from './memory-ledger-speech.ts';
import { type BatchRow, change, rowOf, type State } from './memory-ledger-state.ts';
import { forgetSummaries } from './memory-ledger-summaries.ts';
import { keepPlan } from './memory-ledger-thoughts.ts';
import { ensureLane, heldBy, moveOn, pinnedOf } from './memory-ledger-turns.ts';
import { notifyWebhooks } from './memory-ledger-webhooks.ts';

export function memoryMemories(state: State): MemoryStore {
  return {
    ...memoryReads(state),
    apply: async (turn, application) => apply(state, turn, application),
    write: async (tenant, writing) => write(state, tenant, writing),
    laneOf: async (tenant, owner, now) => ensureLane(state, tenant, { owner, now }).id,
  };
}

function apply(state: State, turn: Turn, application: Application): Applied {
  const lane = heldBy(state, turn);
  if (lane === null) return { kind: 'fenced' };
  const overtaken = conflictsOf(state, turn.tenant, application.changes);
  if (overtaken.length > 0) return { kind: 'conflict', memoryIds: overtaken };
  if (application.plan !== null) keepPlan(state, turn, application.plan);
  const pinned = pinnedOf(state, turn.consolidationId);
  const outcomes = pinned.map((batch) => ({ batch, outcome: outcomeOf(application, batch) }));
  const changes = record(state, application.changes, { consolidationId: turn.consolidationId, now: application.now });
  endProposals(state, changes, application.now);
  for (const tombstone of application.tombstones) state.tombstones.push({ lane: turn.lane, tombstone });
  openReviews(state, turn, application);
  for (const { batch, outcome } of outcomes) {
    change(batch, { stage: 'project', appliedAt: application.now, failure: null, urgent: false, outcome });
    reviseSpeech(batch, null);
  }
  findSpeech(state, new Set(pinned.map(({ id }) => id)), application.now);
  const consolidation = rowOf(state.consolidations, turn.consolidationId);
  change(consolidation, { state: 'applied', appliedAt: application.now, failure: null });
  if (application.measured !== null) state.figures.set(turn.consolidationId, application.measured);
  lane.updatedAt = Math.max(lane.updatedAt, application.now);
  forgetIn(state, application.changes, application.now);
  const { lane: laneId, consolidationId } = turn;
  noteWishes(state, { lane: laneId, consolidationId }, application.wishes);
  if (application.wishes.length > 0) showWithGraph(state, laneId, application.now);
  if (application.attacks.length > 0) notifyWebhooks(state, turn.tenant, [attackNotice(turn, application)]);
  if (application.graph) openStudy(state, consolidation, application.now);
  return { kind: 'applied', next: moveOn(state, lane, application) };
}

/** What a night changes. It is no activity of its owner. */
export function carryOutNight(
  state: State,
  of: Pick<Turn, 'tenant' | 'lane' | 'owner' | 'scope' | 'consolidationId'>,
  night: NightChanges & { readonly now: number },
): void {
  const changes = record(state, night.changes, { consolidationId: of.consolidationId, now: night.now });
  endProposals(state, changes, night.now);
  for (const tombstone of night.tombstones) state.tombstones.push({ lane: of.lane, tombstone });
  openReviews(state, of, night);
  forgetIn(state, night.changes, night.now);
}

/** Operations of an applied plan begin to wait. */
function openReviews(
  state: State,
  turn: Pick<Turn, 'tenant' | 'lane' | 'owner' | 'scope' | 'consolidationId'>,
  { reviews, now }: Pick<Application, 'reviews' | 'now'>,
): void {
  const { tenant, lane, owner, scope, consolidationId } = turn;
  for (const operation of reviews) {
    const { id } = operation;
    const pending = { state: 'pending', note: null, createdAt: now, settledAt: null } as const;
    state.reviews.set(id, { id, tenant, lane, owner, scope, consolidationId, operation, ...pending });
  }
}

function outcomeOf(application: Application, batch: BatchRow): 'consolidated' | 'empty' {
  const outcome = application.batches.get(batch.id);
  if (outcome === undefined)
    throw new Error(`expected how batch ${batch.id} ends; every pinned batch needs an outcome`);
  return outcome;
}

/** The same rows as of a turn, without one. */
export function write(
  state: State,
  tenant: TenantId,
  writing: {
    changes: readonly MemoryChange[];
    tombstones: readonly Tombstone[];
    proposal?: Proposal | undefined;
    now: number;
  },
): Written {
  const overtaken = conflictsOf(state, tenant, writing.changes);
  if (overtaken.length > 0) return { kind: 'conflict', memoryIds: overtaken };
  const changes = record(state, writing.changes, { consolidationId: null, now: writing.now });
  endProposals(state, changes, writing.now);
  for (const tombstone of writing.tombstones) {
    state.tombstones.push({ lane: laneOfMemory(state, tombstone.memoryId), tombstone });
  }
  for (const { memory } of writing.changes) {
    const lane = rowOf(state.lanes, memory.lane);
    lane.updatedAt = Math.max(lane.updatedAt, writing.now);
  }
  forgetIn(state, writing.changes, writing.now);
  if (writing.proposal !== undefined) propose(state, writing.proposal, writing.now);
  return { kind: 'written' };
}

/** What a rating proposes begins to wait in the place of what earlier ones did. */
function propose(state: State, { memoryId, opens, note }: Proposal, now: number): void {
  const { tenant, lane, owner, scope } = rowOf(state.memories, memoryId);
  for (const review of state.reviews.values()) {
    const waits = review.operation.memoryId === memoryId && review.consolidationId === null;
    if (waits && review.state === 'pending') change(review, { state: 'stale', note, settledAt: now });
  }
  const pending = { state: 'pending', note: null, createdAt: now, settledAt: null } as const;
  const of = { tenant, lane, owner, scope, consolidationId: null, operation: opens };
  state.reviews.set(opens.id, { id: opens.id, ...of, ...pending });
}

/** Deletions that ratings proposed are over where their rating or the text they are about is gone. */
function endProposals(state: State, changes: readonly MemoryChange[], now: number): void {
  const changed = new Map(changes.map(({ memory }) => [memory.id, memory]));
  for (const review of state.reviews.values()) {
    const memory = changed.get(review.operation.memoryId);
    if (memory === undefined || review.consolidationId !== null || review.state !== 'pending') continue;
    const note = proposalOver(memory, review.operation.rated ?? 0);
    if (note !== null) change(review, { state: 'stale', note, settledAt: now });
  }
}

/** What goes with what is forgotten, or comes back with it. */
function forgetIn(state: State, changes: readonly MemoryChange[], now: number): void {
  for (const lane of forgetWith(state, changes, now)) refoldGraph(state, lane, now);
}

const laneOfMemory = (state: State, id: string): LaneId => rowOf(state.memories, id).lane;

/** Memories that are no longer what the change was decided on. */
export function conflictsOf(state: State, tenant: TenantId, changes: readonly MemoryChange[]): string[] {
  const isOvertaken = ({ memory, expectedRevision }: MemoryChange) => {
    const lane = state.lanes.get(memory.lane);
    if (lane === undefined || lane.erasure !== null) return true;
    const current = state.memories.get(memory.id);
    if (current !== undefined && current.tenant !== tenant) return true;
    return (current?.revision ?? 0) !== expectedRevision;
  };
  return changes.filter(isOvertaken).map(({ memory }) => memory.id);
}

/** Writes the changes and the conclusions that turn with them; answers with all of them. */
export function record(
  state: State,
  asked: readonly MemoryChange[],
  { consolidationId, now }: { readonly consolidationId: string | null; readonly now: number },
): readonly MemoryChange[] {
  const changes = turning(state, asked, now);
  blankQuestions(state, changes);
  for (const change of changes) {
    const { memory, events } = change;
    notifyWebhooks(state, memory.tenant, [...memoryNotices([change]), ...retractionsOf(state, change)]);
    state.memories.set(memory.id, memory);
    state.events.push(...events);
    if (events.some((event) => event.kind === 'DELETE')) forgetSummaries(state, memory.lane);
    state.counters.outboxSeq += 1;
    const seq = state.counters.outboxSeq;
    state.outbox.set(seq, { seq, memoryId: memory.id, tenant: memory.tenant, lane: memory.lane, consolidationId });
  }
  return changes;
}

function turning(state: State, changes: readonly MemoryChange[], now: number): readonly MemoryChange[] {
  const lanes = new Set(changes.map(({ memory }) => memory.lane));
  const written = new Set(changes.map(({ memory }) => memory.id));
  const conclusions = [...state.memories.values()].filter(
    (memory) => lanes.has(memory.lane) && !written.has(memory.id) && hasConclusions(memory),
  );
  return withTurned({ changes, conclusions, pieces: [...state.memories.values()], now });
}
