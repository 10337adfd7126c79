import {
  batchNotice,
  type Claim,
  type DueMark,
  FAILURES_KEPT,
  type Failed,
  type Lane,
  type LaneStore,
  type Millis,
  type Nudge,
  type Owner,
  type TenantId,
  type Turn,
  type TurnName,
  type WindowPolicy,
} from '@slowwave/engine';
import {
  CLOCK_AHEAD_MS,
  CLOCK_NOTED_MS,
  dayOf,
  isInShare,
  keptBackUntil,
  largerWindow,
  pausedAtOf,
  rungOn,
  withPause,
} from '@slowwave/engine/storing';
import { canaryInForce } from './memory-ledger-canaries.ts';
import { type BatchRow, change, type LaneRow, rowOf, type State, scopeKey } from './memory-ledger-state.ts';
import { summaryOf } from './memory-ledger-summaries.ts';
import { gather } from './memory-ledger-thoughts.ts';
import { findLane, hasten, heldBy, moveOn, nudgeOf, pinnedOf, raised, waitingOf, wake } from './memory-ledger-turns.ts';
import { notifyWebhooks } from './memory-ledger-webhooks.ts';

type ClaimHow = Parameters<LaneStore['claim']>[1];
type FailHow = Parameters<LaneStore['fail']>[1];

export function memoryLanes(state: State): LaneStore {
  return {
    claim: async (job, how) => claim(state, job, how),
    fail: async (turn, how) => fail(state, turn, how),
    release: async (turn, dueAt, why) => {
      const lane = heldBy(state, turn);
      if (lane === null) return;
      lane.dueAt = dueAt;
      if (why !== undefined) for (const batch of pinnedOf(state, turn.consolidationId)) batch.failure = why;
    },
    due: async (now, limit, after) => {
      const due = busyLanes(state)
        .filter((lane) => dueOf(lane) <= now)
        .map((lane) => nudgeOf(state, lane))
        .sort(byDue);
      return due.filter((nudge) => after === undefined || byDue(nudge, after) > 0).slice(0, limit);
    },
    lateTenants: async (dueBefore, lanes) => {
      const late = busyLanes(state)
        .filter((lane) => dueOf(lane) < dueBefore)
        .map((lane) => nudgeOf(state, lane));
      const live = late.filter(({ priority }) => priority === 'live');
      const byTenant = Map.groupBy(live, ({ tenant }) => tenant);
      return [...byTenant].flatMap(([tenant, { length }]) => (length >= lanes ? [tenant] : [])).sort();
    },
    withWork: async (after, limit) => {
      const rest = busyLanes(state).filter((lane) => after === null || lane.id > after);
      return rest
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit)
        .map((lane) => nudgeOf(state, lane));
    },
    raise: async (nudge) => raise(state, nudge),
    flush: async (tenant, owner, now) => flush(state, { tenant, owner }, now),
    pause: async (id, how) => {
      const lane = state.lanes.get(id);
      if (lane === undefined || lane.erasure !== null) return null;
      lane.pauses = withPause(lane.pauses, how);
      return viewOf(state, lane);
    },
    clockSetBack: async (now, { all }) => {
      const isAhead = (lane: LaneRow): boolean =>
        waitingOf(state, lane.id).some(({ acceptedAt }) => acceptedAt > now + CLOCK_AHEAD_MS);
      const late = busyLanes(state).filter((lane) => dueOf(lane) > now);
      const hastened = late.filter((lane) => all || (lane.state === 'waiting' && isAhead(lane)));
      for (const lane of hastened) lane.dueAt = now;
      if (all) hastenOthers(state, now);
      if (all) state.clockSeen = now;
      return hastened.length;
    },
    clockSeen: async (now) => {
      if (now >= state.clockSeen + CLOCK_NOTED_MS) state.clockSeen = now;
      return state.clockSeen;
    },
    clockShown: async () => (state.clockSeen === 0 ? null : state.clockSeen),
    find: async (tenant, owner) => {
      const lane = findLane(state, tenant, owner);
      return lane === null ? null : viewOf(state, lane);
    },
    get: async (id) => {
      const lane = state.lanes.get(id);
      return lane === undefined ? null : viewOf(state, lane);
    },
  };
}

/** What else waits for a time. */
function hastenOthers(state: State, now: Millis): void {
  const working = [...state.replays.values()].filter((one) => one.state !== 'done' && one.state !== 'failed');
  for (const row of [...state.deliveries.values(), ...working, ...state.canaries.values()])
    if (row.dueAt !== null) row.dueAt = Math.min(row.dueAt, now);
  for (const webhook of state.webhooks.values()) webhook.heldUntil = Math.min(webhook.heldUntil, now);
  for (const study of state.graph.studies.values()) study.notBefore = Math.min(study.notBefore, now);
  for (const turn of state.graph.turns.values()) turn.heldUntil = Math.min(turn.heldUntil, now);
  for (const [id, job] of state.bulkJobs) state.bulkJobs.set(id, { ...job, dueAt: Math.min(job.dueAt, now) });
  for (const [lane, aside] of state.aside)
    state.aside.set(lane, { ...aside, notBefore: Math.min(aside.notBefore, now) });
}

function claim(state: State, job: TurnName, how: ClaimHow): Claim {
  const lane = state.lanes.get(job.lane);
  if (lane === undefined || lane.held !== null || lane.state === 'idle') return { kind: 'stale' };
  if (lane.generation !== job.generation) return { kind: 'stale' };
  const dueAt = Math.max(dueOf(lane), keptBackUntil(lane.leavingUntil, how.now));
  if (dueAt > how.now) return { kind: 'not_due', dueAt };
  const isResumed = lane.consolidationId !== null;
  const id = lane.consolidationId ?? pin(state, lane, how);
  lane.state = 'consolidating';
  lane.epoch += 1;
  const consolidation = rowOf(state.consolidations, id);
  consolidation.state = state.plans.has(id) ? 'planned' : 'thinking';
  const turn: Turn = { ...turnOf(state, lane, id), ...(isResumed && { resumed: true }) };
  return {
    kind: 'claimed',
    turn,
    gathered: how.recentCount === undefined ? null : gather(state, turn, how.recentCount),
  };
}

/** Binds the next window of the lane to a new consolidation. */
function pin(state: State, lane: LaneRow, how: ClaimHow): string {
  const rung = rungOn(state.economies.get(lane.tenant) ?? null, dayOf(how.now));
  const window = windowOf(waitingOf(state, lane.id), largerWindow(how.window, rung), lane);
  const [first] = window;
  if (first === undefined) throw new Error(`lane ${lane.id} waits, but no batch of it does`);
  const id = how.newConsolidationId;
  for (const batch of window) {
    change(batch, { state: 'consolidating', stage: 'extract', consolidationId: id, claimedAt: how.now });
  }
  const batchIds = window.map((batch) => batch.id);
  const { tenant, scope } = first;
  const beginning = { state: 'thinking', attempts: 0, failure: null, createdAt: how.now, appliedAt: null } as const;
  const canary = canaryInForce(state, tenant);
  const variant = canary !== null && isInShare(canary, lane.owner) ? canary.id : null;
  state.consolidations.set(id, {
    id,
    tenant,
    lane: lane.id,
    scope,
    batchIds,
    variant,
    ...(rung > 0 && { rung }),
    ...beginning,
  });
  state.pinnedSummaries.set(id, summaryOf(state, lane.id, scope).summary);
  lane.consolidationId = id;
  return id;
}

/** The longest prefix with equal scope and settings within the limits, at least one batch. */
function windowOf(
  waiting: readonly BatchRow[],
  policy: WindowPolicy,
  { windowLimit: limit, keptWindows }: LaneRow,
): BatchRow[] {
  const window: BatchRow[] = [];
  const most = Math.max(1, Math.min(policy.maxBatches, limit ?? policy.maxBatches));
  let tokens = 0;
  for (const batch of waiting) {
    tokens += batch.tokens;
    const first = window[0] ?? batch;
    const fits = window.length === 0 || (window.length < most && tokens <= policy.maxTokens);
    const isOther = first.position <= keptWindows && batch.formers.at(-1) !== first.formers.at(-1);
    if (!fits || isOther || !alike(first, batch)) break;
    window.push(batch);
  }
  return window;
}

const alike = (a: BatchRow, b: BatchRow): boolean =>
  scopeKey(a.scope) === scopeKey(b.scope) && settingsKey(a) === settingsKey(b);

/** Equal where settings may share a consolidation. */
const settingsKey = ({ settings }: BatchRow): string =>
  JSON.stringify([
    settings.mode,
    settings.instructions,
    settings.includes,
    settings.excludes,
    settings.expiresAt,
    settings.graph ?? null,
    settings.ownAppOnly ?? false,
    settings.window ?? null,
    settings.categories ?? null,
  ]);

/** The turn says when its window was pinned, so that a resumed one asks its model the same question. */
function turnOf(state: State, lane: LaneRow, consolidationId: string): Turn {
  const { batchIds, scope, createdAt, variant, rung } = rowOf(state.consolidations, consolidationId);
  const { settings, keyId } = rowOf(state.batches, batchIds[0] ?? '');
  return {
    tenant: lane.tenant,
    lane: lane.id,
    owner: lane.owner,
    generation: lane.generation,
    epoch: lane.epoch,
    consolidationId,
    scope,
    settings,
    batchIds,
    variant,
    attempts: lane.attempts,
    claimedAt: createdAt,
    ...(keyId !== undefined && { keyId }),
    ...(rung !== undefined && { rung }),
  };
}

function fail(state: State, turn: Turn, how: FailHow): Failed {
  const lane = heldBy(state, turn);
  if (lane === null) return { kind: 'fenced' };
  const pinned = pinnedOf(state, turn.consolidationId);
  const consolidation = rowOf(state.consolidations, turn.consolidationId);
  for (const row of [...pinned, consolidation]) {
    row.attempts += 1;
    row.failure = how.failure;
  }
  for (const row of pinned) row.failures = [...row.failures, how.failure].slice(-FAILURES_KEPT);
  lane.attempts += 1;
  if (how.retryable && pinned.some((batch) => batch.attempts < how.maxAttempts)) {
    consolidation.state = 'waiting';
    lane.dueAt = how.retryAt;
    return { kind: 'retry', at: how.retryAt };
  }
  consolidation.state = pinned.length > 1 ? 'split' : 'parked';
  return pinned.length > 1 ? split(state, { lane, pinned }, how.failure.at) : park(state, { lane, pinned }, how);
}

function split(state: State, rows: { lane: LaneRow; pinned: readonly BatchRow[] }, now: Millis): Failed {
  const { lane, pinned } = rows;
  for (const batch of pinned) {
    change(batch, { state: 'pending', stage: 'waiting', consolidationId: null, claimedAt: null, urgent: true });
  }
  lane.consolidationId = null;
  lane.attempts = 0;
  lane.windowLimit = Math.ceil(pinned.length / 2);
  return { kind: 'split', next: wake(state, lane, now) };
}

function park(state: State, rows: { lane: LaneRow; pinned: readonly BatchRow[] }, how: FailHow): Failed {
  for (const batch of rows.pinned) batch.state = 'parked';
  notifyWebhooks(
    state,
    rows.lane.tenant,
    rows.pinned.map((batch) => batchNotice(batch, how.failure.at)),
  );
  return { kind: 'parked', next: moveOn(state, rows.lane, { policy: how.policy, now: how.failure.at }) };
}

function raise(state: State, turn: TurnName): Nudge | null {
  const lane = state.lanes.get(turn.lane);
  if (lane === undefined || lane.state === 'idle' || lane.generation !== turn.generation) return null;
  return raised(state, lane);
}

function flush(state: State, whose: { tenant: TenantId; owner: Owner }, now: Millis) {
  const lane = findLane(state, whose.tenant, whose.owner);
  const waiting = lane === null ? [] : waitingOf(state, lane.id);
  for (const batch of waiting) batch.urgent = true;
  const nudge = lane === null || waiting.length === 0 ? null : hasten(state, lane, now);
  return { pending: waiting.length, nudge };
}

/** While consolidating: when a try may begin, or began to be due. */
const dueOf = (lane: LaneRow): Millis => lane.dueAt ?? 0;

const byDue = (a: DueMark, b: DueMark): number => a.dueAt - b.dueAt || (a.lane < b.lane ? -1 : Number(a.lane > b.lane));

/** Those that are held are nobody's to work on. */
const busyLanes = (state: State): LaneRow[] =>
  [...state.lanes.values()].filter((lane) => lane.state !== 'idle' && lane.held === null);

function viewOf(state: State, lane: LaneRow): Lane {
  const { id, tenant, owner, generation, epoch, dueAt, attempts, lastMessage } = lane;
  return {
    id,
    tenant,
    owner,
    state: lane.state,
    generation,
    epoch,
    dueAt,
    attempts,
    lastMessage,
    pending: waitingOf(state, id).length,
    pausedAt: pausedAtOf(lane.pauses),
    cold: null,
  };
}
