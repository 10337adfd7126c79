import {
  type Account,
  type BatchCounts,
  type BatchState,
  dayOf,
  foundVersions,
  liveVersion,
  type Memory,
  type OverviewStore,
  type OwnerSummary,
  payerOf,
  spaceIn,
  type TenantId,
  type UsageTotals,
} from '@slowwave/engine';
import { unprojectedOfGraph } from './memory-ledger-graph-items.ts';
import { pageOf } from './memory-ledger-page.ts';
import { unprojectedIn } from './memory-ledger-speech.ts';
import type { CallRow, LaneRow, State } from './memory-ledger-state.ts';
import { waitingOf } from './memory-ledger-turns.ts';

export function memoryOverview(state: State): OverviewStore {
  return {
    batches: async (tenant) => batchCounts(state, tenant),
    backlog: async (tenant, atMost) => {
      const open = [...state.batches.values()].filter(
        (batch) =>
          (tenant === null ? spaceIn(batch.tenant) === null : tenant === batch.tenant) &&
          ['pending', 'consolidating'].includes(batch.state),
      );
      return Math.min(atMost, open.length);
    },
    memories: async (tenant) => {
      const memories = [...state.memories.values()].filter((memory) => memory.tenant === tenant);
      const versions = memories.reduce((sum, memory) => sum + foundVersions(memory).length, 0);
      return { live: memories.filter(isLive).length, versions };
    },
    usage: async (tenant) => totals(state.calls.filter((call) => payerOf(call.tenant) === tenant)),
    usageOfDay: async (of, at) => {
      const mine = state.calls.filter((call) => isOf(call, of));
      const today = mine.filter((call) => dayOf(call.at) === dayOf(at));
      const byModel = [...Map.groupBy(today, (call) => call.model)].map(([model, calls]) => ({
        model,
        ...totals(calls),
      }));
      return byModel.sort((a, b) => (a.model < b.model ? -1 : 1));
    },
    usageOf: async (id) => totals(state.calls.filter((call) => call.consolidationId === id)),
    owners: async (tenant, page) => {
      const paged = pageOf(lanesOf(state, tenant), (lane) => ({ order: lane.createdAt, id: lane.id }), page);
      return { ...paged, results: paged.results.map((lane) => summaryOf(state, lane)) };
    },
    ownerCount: async (tenant) => lanesOf(state, tenant).length,
    outbox: async () => state.outbox.size + unprojectedIn(state).length + unprojectedOfGraph(state).length,
    oldestDue: async (now) => {
      const lanes = [...state.lanes.values()].filter((lane) => spaceIn(lane.tenant) === null);
      const due = lanes.flatMap((lane) => lane.dueAt ?? []).filter((dueAt) => dueAt <= now);
      return due.length === 0 ? null : Math.min(...due);
    },
  };
}

function batchCounts(state: State, tenant: TenantId): BatchCounts {
  const batches = [...state.batches.values()].filter((batch) => batch.tenant === tenant);
  const count = (wanted: BatchState) => batches.filter((batch) => batch.state === wanted).length;
  return {
    accepted: state.accepted.get(tenant) ?? 0,
    pending: count('pending'),
    consolidating: count('consolidating'),
    consolidated: count('consolidated'),
    empty: count('empty'),
    parked: count('parked'),
    undone: count('undone'),
    erased: state.erased.get(tenant) ?? 0,
  };
}

const isLive = (memory: Memory): boolean => liveVersion(memory) !== null;

function isOf({ tenant, lane }: CallRow, of: { readonly tenant: TenantId } | Account): boolean {
  if ('tenant' in of) return payerOf(tenant) === of.tenant;
  return 'lane' in of ? lane === of.lane : lane === null && tenant === of.strangersOf;
}

function totals(calls: readonly CallRow[]): UsageTotals {
  return {
    calls: calls.length,
    failedCalls: calls.filter((call) => call.failed).length,
    promptTokens: calls.reduce((sum, call) => sum + call.usage.promptTokens, 0),
    completionTokens: calls.reduce((sum, call) => sum + call.usage.completionTokens, 0),
  };
}

const lanesOf = (state: State, tenant: TenantId): LaneRow[] =>
  [...state.lanes.values()].filter((lane) => lane.tenant === tenant && lane.erasure === null);

function summaryOf(state: State, lane: LaneRow): OwnerSummary {
  const memories = [...state.memories.values()].filter((memory) => memory.lane === lane.id && isLive(memory));
  const { owner, createdAt, updatedAt } = lane;
  return { owner, memories: memories.length, pending: waitingOf(state, lane.id).length, createdAt, updatedAt };
}
