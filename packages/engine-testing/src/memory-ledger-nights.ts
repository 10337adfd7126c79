import type {
  LaneId,
  Millis,
  Night,
  NightChanges,
  NightClaim,
  NightDecision,
  NightEnd,
  NightEnded,
  NightRecord,
  NightStore,
  Scope,
  TenantId,
} from '@slowwave/engine';
import { keptBackUntil, nightNotice } from '@slowwave/engine/storing';
import { storeAnswerOf } from './memory-ledger-graph-studies.ts';
import { carryOutNight, conflictsOf } from './memory-ledger-memories.ts';
import { pageOf } from './memory-ledger-page.ts';
import { change, type LaneRow, type NightRow, rowOf, type SleepRow, type State } from './memory-ledger-state.ts';
import { isOfUser, isStanding } from './memory-ledger-turns.ts';
import { settle } from './memory-ledger-usage.ts';
import { notifyWebhooks } from './memory-ledger-webhooks.ts';

export function memoryNights(state: State): NightStore {
  return {
    due: async (tenant, { quietSince, now, limit }) =>
      [...state.lanes.values()]
        .filter((lane) => lane.tenant === tenant && lane.updatedAt <= quietSince && isDue(state, lane, now))
        .sort((a, b) => a.updatedAt - b.updatedAt || (a.id < b.id ? -1 : 1))
        .slice(0, limit)
        .map(({ id }) => id),
    claim: async (lane, how) => claim(state, lane, how),
    holds: async (night) => holds(state, night),
    storeAnswer: async (night, answer, call = null) => {
      if (call !== null) settle(state, call);
      if (!holds(state, night)) return { kind: 'fenced' };
      storeAnswerOf(state, night, answer);
      return { kind: 'stored' };
    },
    storePlan: async (night, plan) => {
      if (!holds(state, night)) return { kind: 'fenced' };
      const { consolidationId: id } = night;
      const others = (state.plans.get(id) ?? []).filter(({ round }) => round !== plan.round);
      state.plans.set(id, [...others, plan]);
      change(rowOf(state.consolidations, id), { state: 'planned' });
      return { kind: 'stored' };
    },
    end: async (night, how) => end(state, night, how),
    fail: async (night, { failure, retryAt }) => {
      if (!holds(state, night)) return { kind: 'fenced' };
      const consolidation = rowOf(state.consolidations, night.consolidationId);
      change(consolidation, { attempts: consolidation.attempts + 1, failure });
      if (retryAt === null) {
        change(consolidation, { state: 'parked' });
        change(rowOf(state.nights, night.consolidationId), { state: 'failed', endedAt: failure.at });
        change(sleepOf(state, night.lane), { lookedAt: night.claimedAt, nextAt: null });
      }
      free(state, night.lane, retryAt ?? failure.at);
      return { kind: 'noted' };
    },
    release: async (night, notBefore) => {
      if (holds(state, night)) free(state, night.lane, notBefore);
    },
    decide: async (tenant, id, decision) => decide(state, { tenant, id }, decision),
    get: async (tenant, id) => {
      const row = state.nights.get(id);
      return row?.tenant === tenant && isStanding(state, row.lane) ? recordOf(state, row) : null;
    },
    list: async (tenant, { state: wanted, userId }, page) => {
      const rows = [...state.nights.values()].filter(
        (row) =>
          row.tenant === tenant && (wanted === undefined || row.state === wanted) && isOfUser(state, row.lane, userId),
      );
      const paged = pageOf(rows, (row) => ({ order: row.createdAt, id: row.id }), page);
      return { ...paged, results: paged.results.map((row) => recordOf(state, row)) };
    },
    spent: async (tenant, since) =>
      [...state.nights.values()]
        .filter((row) => row.tenant === tenant)
        .flatMap(({ id }) => state.answers.get(id) ?? [])
        .filter(({ at }) => at >= since)
        .reduce((sum, { usage }) => sum + usage.promptTokens + usage.completionTokens, 0),
    used: async ({ lane, consolidationId }, since) => {
      const own = state.calls.filter((call) => call.lane === lane && call.at >= since && call.step !== 'embed');
      const others = own.filter((call) => call.consolidationId !== null && call.consolidationId !== consolidationId);
      const tokensOf = (calls: typeof own): number =>
        calls.reduce((sum, { usage }) => sum + usage.promptTokens + usage.completionTokens, 0);
      const nights = tokensOf(others.filter((call) => state.nights.has(call.consolidationId ?? '')));
      return { consolidations: tokensOf(others) - nights, nights };
    },
  };
}

const UNLOOKED: SleepRow = { epoch: 0, held: null, heldUntil: 0, notBefore: 0, lookedAt: 0, nextAt: null, seen: [] };

function sleepOf(state: State, lane: LaneId): SleepRow {
  const known = state.sleeps.get(lane) ?? { ...UNLOOKED };
  state.sleeps.set(lane, known);
  return known;
}

const free = (state: State, lane: LaneId, notBefore: Millis): void =>
  change(sleepOf(state, lane), { held: null, heldUntil: 0, notBefore });

/** The night of a lane that is not over. */
const openIn = (state: State, lane: LaneId): NightRow | undefined =>
  [...state.nights.values()].find((row) => row.lane === lane && ['thinking', 'waiting'].includes(row.state));

function isDue(state: State, lane: LaneRow, now: Millis): boolean {
  if (lane.state !== 'idle' || lane.erasure !== null || openIn(state, lane.id)?.state === 'waiting') return false;
  const sleep = state.sleeps.get(lane.id);
  if (sleep === undefined) return true;
  const isFree = sleep.heldUntil <= now && sleep.notBefore <= now;
  return isFree && (lane.updatedAt > sleep.lookedAt || (sleep.nextAt !== null && sleep.nextAt <= now));
}

function claim(state: State, id: LaneId, how: { id: string; now: Millis; holdMs: number }): NightClaim {
  const { id: fresh, now, holdMs } = how;
  const lane = state.lanes.get(id);
  const open = openIn(state, id);
  if (lane === undefined || lane.erasure !== null || lane.state !== 'idle') return { kind: 'none' };
  if (open?.state === 'waiting') return { kind: 'none' };
  const keptBack = keptBackUntil(lane.leavingUntil, now);
  if (keptBack > now) return { kind: 'later', at: keptBack };
  const sleep = sleepOf(state, id);
  if (sleep.held !== null && sleep.heldUntil > now) return { kind: 'later', at: sleep.heldUntil };
  if (sleep.notBefore > now) return { kind: 'later', at: sleep.notBefore };
  const consolidationId = open?.id ?? fresh;
  if (open === undefined) begin(state, lane, { id: fresh, now });
  change(sleep, { epoch: sleep.epoch + 1, held: consolidationId, heldUntil: now + holdMs });
  const { attempts, scope } = rowOf(state.consolidations, consolidationId);
  const { tenant, owner } = lane;
  const plan = state.plans.get(consolidationId)?.toSorted((a, b) => b.round - a.round)[0] ?? null;
  const { epoch, seen } = sleep;
  const night = { tenant, lane: id, owner, scope, consolidationId, epoch, attempts, claimedAt: now, seen, plan };
  return { kind: 'claimed', night };
}

function begin(state: State, { id: lane, tenant, owner }: LaneRow, { id, now }: { id: string; now: Millis }): void {
  const none: Scope = { userId: null, agentId: null, runId: null, appId: null };
  const scope = { ...none, [`${owner.kind}Id`]: owner.id };
  const thinking = { state: 'thinking', attempts: 0, failure: null, createdAt: now, appliedAt: null } as const;
  state.consolidations.set(id, { id, tenant, lane, scope, batchIds: [], variant: null, ...thinking });
  const counts = { operations: 0, memories: 0 };
  state.nights.set(id, { id, tenant, lane, state: 'thinking', why: null, ...counts, createdAt: now, endedAt: null });
}

const holds = (state: State, { lane, consolidationId, epoch }: Night): boolean => {
  const sleep = state.sleeps.get(lane);
  const isOpen = state.nights.get(consolidationId)?.state === 'thinking' && state.lanes.get(lane)?.erasure === null;
  return isOpen && sleep?.held === consolidationId && sleep.epoch === epoch;
};

function end(state: State, night: Night, { seen, nextAt, now, outcome }: NightEnd): NightEnded {
  if (!holds(state, night)) return { kind: 'fenced' };
  const { consolidationId: id, lane } = night;
  const row = rowOf(state.nights, id);
  if (outcome.kind === 'applies') {
    if (!carryOut(state, row, { changed: outcome, now })) return { kind: 'conflict' };
  } else if (outcome.kind === 'waits') {
    const { why, memories, acts } = outcome;
    change(row, { state: 'waiting', why, memories, operations: acts.length });
    notifyWebhooks(state, night.tenant, [nightNotice(night, { why, memories, acts, at: now })]);
  } else rest(state, row, { refused: outcome.refused, now });
  change(sleepOf(state, lane), { lookedAt: night.claimedAt, nextAt, seen });
  free(state, lane, 0);
  return { kind: 'ended' };
}

interface Rested {
  readonly refused: number;
  readonly now: Millis;
}

/** One that asked nobody, found nothing and refused nothing was none. */
function rest(state: State, row: NightRow, { refused, now }: Rested): void {
  if (refused > 0 || (state.answers.get(row.id) ?? []).length > 0) {
    change(rowOf(state.consolidations, row.id), { state: 'applied', appliedAt: now });
    change(row, { state: 'applied', endedAt: now });
    return;
  }
  for (const table of [state.nights, state.consolidations, state.plans]) table.delete(row.id);
}

function carryOut(state: State, row: NightRow, { changed, now }: { changed: NightChanges; now: Millis }): boolean {
  const { tenant, id } = row;
  if (conflictsOf(state, tenant, changed.changes).length > 0) return false;
  const consolidation = rowOf(state.consolidations, id);
  const { scope } = consolidation;
  const { owner } = rowOf(state.lanes, row.lane);
  carryOutNight(state, { tenant, lane: row.lane, owner, scope, consolidationId: id }, { ...changed, now });
  change(consolidation, { state: 'applied', appliedAt: now, failure: null });
  const { acts, changes } = changed;
  change(row, { state: 'applied', operations: acts.length, memories: changes.length, endedAt: now });
  const news = { why: null, memories: changes.length, acts, at: now };
  notifyWebhooks(state, tenant, [nightNotice({ consolidationId: id, lane: row.lane, scope }, news)]);
  return true;
}

function decide(
  state: State,
  { tenant, id }: { readonly tenant: TenantId; readonly id: string },
  decision: NightDecision,
): { readonly kind: 'ended' | 'conflict' | 'over' } {
  const row = state.nights.get(id);
  if (row?.tenant !== tenant || row.state !== 'waiting' || !isStanding(state, row.lane)) return { kind: 'over' };
  const { now } = decision;
  if (decision.state === 'applied')
    return { kind: carryOut(state, row, { changed: decision, now }) ? 'ended' : 'conflict' };
  change(rowOf(state.consolidations, id), { state: 'undone' });
  change(row, { state: decision.state, endedAt: now });
  if (decision.state === 'stale') change(sleepOf(state, row.lane), { lookedAt: 0, seen: [] });
  return { kind: 'ended' };
}

function recordOf(state: State, row: NightRow): NightRecord {
  const { scope, failure, state: of } = rowOf(state.consolidations, row.id);
  const undone = row.state === 'applied' && of === 'undone';
  return { ...row, owner: rowOf(state.lanes, row.lane).owner, scope, undone, failure };
}
