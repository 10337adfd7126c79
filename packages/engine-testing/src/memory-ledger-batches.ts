import {
  type Appended,
  type Batch,
  type BatchState,
  type BatchStore,
  type DuePolicy,
  type MemoryEvent,
  type Millis,
  type NewBatch,
  type NewMessage,
  type Nudge,
  ownerOf,
  type ParkedReason,
  replayPriority,
  type TenantId,
} from '@slowwave/engine';
import { exchangesIn, heard, paceWith, saidWhen } from '@slowwave/engine/storing';
import { pageOf } from './memory-ledger-page.ts';
import { projectSpeechAgain } from './memory-ledger-speech.ts';
import { type BatchRow, change, type LaneRow, rowOf, type State, scopeKey } from './memory-ledger-state.ts';
import {
  dueAtOf,
  ensureLane,
  hasten,
  isOfUser,
  isStanding,
  isTooLow,
  raised,
  waitingOf,
  wake,
} from './memory-ledger-turns.ts';

export function memoryBatches(state: State): BatchStore {
  return {
    append: async (batch, policy) => append(state, batch, policy),
    get: async (tenant, id) => {
      const batch = state.batches.get(id);
      return batch?.tenant === tenant && isStanding(state, batch.lane) ? viewOf(batch) : null;
    },
    list: async (tenant, filter, page) => {
      const rows = batchesOf(state, tenant).filter(
        (batch) =>
          (filter.state === undefined || batch.state === filter.state) &&
          isOfUser(state, batch.lane, filter.userId) &&
          (filter.lane === undefined || batch.lane === filter.lane) &&
          (filter.errorCode === undefined || batch.failure?.code === filter.errorCode) &&
          (filter.since === undefined || batch.acceptedAt >= filter.since),
      );
      const paged = pageOf(rows, (batch) => ({ order: batch.acceptedAt, id: batch.id }), page);
      return { ...paged, results: paged.results.map(viewOf) };
    },
    parkedReasons: async (tenant) => {
      const parked = batchesOf(state, tenant).filter((batch) => batch.state === 'parked');
      const reasons = [...Map.groupBy(parked, ({ failure }) => failure?.code ?? '')].map(reasonOf);
      return reasons.sort((a, b) => b.batches - a.batches || (a.code < b.code ? -1 : 1));
    },
    events: async (tenant, id) => eventsOf(state, tenant, id),
  };
}

function reasonOf([code, batches]: [string, readonly BatchRow[]]): ParkedReason {
  const accepted = batches.map(({ acceptedAt }) => acceptedAt);
  return {
    ...{ code, batches: batches.length, owners: new Set(batches.map(({ lane }) => lane)).size },
    example:
      batches
        .map(({ failure }) => failure?.message ?? '')
        .sort()
        .at(-1) ?? '',
    ...{ oldestAt: Math.min(...accepted), newestAt: Math.max(...accepted) },
  };
}

function append(state: State, posted: NewBatch, policy: DuePolicy): Appended {
  const lane = ensureLane(state, posted.tenant, { owner: ownerOf(posted.scope), now: posted.acceptedAt });
  const before = knownKey(state, posted);
  if (before !== null) return before;
  const { batch, paused } = heard(posted, lane.pauses);
  for (const message of batch.messages) storeMessage(state, { lane, batch }, message);
  lane.pace = paceWith(lane, { ...batch, exchanges: exchangesIn(batch) }, policy);
  const waited = waitingOf(state, lane.id).length > 0;
  lane.newestAt = waited ? Math.max(lane.newestAt ?? 0, batch.acceptedAt) : batch.acceptedAt;
  storeBatch(state, lane, batch);
  return { kind: 'stored', nudge: announce(state, lane, { policy, now: batch.acceptedAt }), paused };
}

/** The answer to an idempotency key that came before, which is otherwise remembered. */
function knownKey(state: State, batch: NewBatch): Appended | null {
  if (batch.idempotency === null) return null;
  const key = JSON.stringify([batch.tenant, batch.idempotency.key]);
  const known = state.keys.get(key);
  if (known === undefined) {
    state.keys.set(key, { bodyHash: batch.idempotency.bodyHash, batchId: batch.id });
    return null;
  }
  if (known.bodyHash !== batch.idempotency.bodyHash) return { kind: 'conflict' };
  return { kind: 'repeated', batchId: known.batchId, state: rowOf(state.batches, known.batchId).state };
}

function storeMessage(state: State, place: { lane: LaneRow; batch: NewBatch }, message: NewMessage): void {
  const { lane, batch } = place;
  lane.lastMessage += 1;
  const { id, clientId, role, content, name, trust } = message;
  const { at, ...when } = saidWhen(message, { acceptedAt: batch.acceptedAt, seenUntil: lane.updatedAt });
  const saidAt = { at, seq: lane.lastMessage };
  const marked = trust === undefined ? {} : { trust };
  const resent = clientId !== null && wasSent(state, place, clientId);
  state.messages.set(id, {
    tenant: batch.tenant,
    lane: lane.id,
    scope: batch.scope,
    message: { id, batchId: batch.id, clientId, role, content, name, ...marked, saidAt, ...when, resent },
  });
}

/** Whether the scope already has a message with this client id. */
function wasSent(state: State, place: { lane: LaneRow; batch: NewBatch }, clientId: string): boolean {
  const scope = scopeKey(place.batch.scope);
  return state.messages
    .ofLane(place.lane.id)
    .some((row) => row.message.clientId === clientId && scopeKey(row.scope) === scope);
}

function storeBatch(state: State, lane: LaneRow, batch: NewBatch): void {
  const { id, tenant, scope, settings, metadata, tokens, acceptedAt, priority } = batch;
  lane.lastPosition += 1;
  lane.updatedAt = Math.max(lane.updatedAt, acceptedAt);
  state.batches.set(id, {
    ...{ id, tenant, lane: lane.id, scope, settings, metadata, tokens, acceptedAt, priority },
    position: lane.lastPosition,
    state: 'pending',
    stage: 'waiting',
    attempts: 0,
    failure: null,
    failures: [],
    consolidationId: null,
    messageCount: batch.messages.length,
    exchanges: exchangesIn(batch),
    claimedAt: null,
    appliedAt: null,
    searchableAt: null,
    urgent: batch.flush,
    outcome: null,
    formers: [],
    speechRevision: 0,
    speechRevisedAt: null,
    projectedRevision: 0,
    points: 0,
    ...(batch.keyId !== undefined && { keyId: batch.keyId }),
  });
  state.accepted.set(tenant, (state.accepted.get(tenant) ?? 0) + 1);
}

/** What the arrival of a batch means for its lane. A later due time needs no nudge: the job asks again when it fires. */
function announce(state: State, lane: LaneRow, how: { policy: DuePolicy; now: Millis }): Nudge | null {
  if (lane.state === 'consolidating') return null;
  const dueAt = dueAtOf(state, lane, how);
  if (lane.state === 'idle' || lane.dueAt === null) return wake(state, lane, dueAt);
  if (dueAt < lane.dueAt) return wake(state, lane, dueAt);
  // Due at once means since the first batch that made it so, not since the last that arrived.
  if (dueAt !== how.now) lane.dueAt = dueAt;
  return isTooLow(state, lane) ? raised(state, lane) : null;
}

const batchesOf = (state: State, tenant: TenantId): BatchRow[] =>
  [...state.batches.values()].filter((batch) => batch.tenant === tenant);

function eventsOf(state: State, tenant: TenantId, id: string): MemoryEvent[] {
  const batch = state.batches.get(id);
  if (batch?.tenant !== tenant || !isStanding(state, batch.lane)) return [];
  const isOurs = (messageId: string) => state.messages.get(messageId)?.message.batchId === id;
  const isOfLane = (memoryId: string) => state.memories.get(memoryId)?.lane === batch.lane;
  return state.events.filter((event) => isOfLane(event.memoryId) && event.sourceIds.some(isOurs));
}

interface Which {
  readonly tenant: TenantId;
  readonly ids: readonly string[];
  readonly states?: readonly BatchState[];
}

export function replayBatches(state: State, { tenant, ids, states = ['parked', 'undone'] }: Which, now: Millis) {
  const replayed = batchesOf(state, tenant)
    .filter(({ id, state: is, lane }) => ids.includes(id) && states.includes(is) && isStanding(state, lane))
    .filter(({ id }) => !state.stripped.has(id))
    .toSorted((a, b) => a.position - b.position);
  const priority = replayPriority(replayed.length);
  const undone = replayed.filter((batch) => batch.state === 'undone');
  for (const batch of replayed) {
    if (batch.state === 'undone') forgetOutcome(batch);
    change(batch, { state: 'pending', stage: 'waiting', attempts: 0, failure: null, urgent: true });
    change(batch, { consolidationId: null, claimedAt: null, priority: priority ?? batch.priority });
  }
  projectSpeechAgain(state, new Set(undone.map(({ id }) => id)), now);
  const lanes = new Set(replayed.map((batch) => rowOf(state.lanes, batch.lane)));
  const nudges = [...lanes].map((lane) => hasten(state, lane, now)).filter((nudge) => nudge !== null);
  return { replayed: replayed.map((batch) => batch.id), nudges };
}

function forgetOutcome(batch: BatchRow): void {
  const former = batch.consolidationId === null ? [] : [batch.consolidationId];
  change(batch, { outcome: null, appliedAt: null, searchableAt: null, formers: [...batch.formers, ...former] });
}

export function viewOf(row: BatchRow): Batch {
  const {
    tokens,
    exchanges,
    urgent,
    outcome,
    formers,
    speechRevision,
    speechRevisedAt,
    projectedRevision,
    points,
    ...batch
  } = row;
  return batch;
}
