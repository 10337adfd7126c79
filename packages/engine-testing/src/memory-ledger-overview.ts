import {
  type AcceptedBatches,
  type Account,
  type BatchCounts,
  type BatchState,
  dayOf,
  foundVersions,
  type Glance,
  type HowToGlance,
  type HowToMeasure,
  type LaneId,
  liveVersion,
  type MeasuredStretch,
  type Memory,
  type Millis,
  type OverviewStore,
  type OwnerSummary,
  payerOf,
  spaceIn,
  type Tally,
  type TenantId,
  type UsageOfStep,
  type UsageStep,
  type UsageTotals,
} from '@slowwave/engine';
import { unprojectedOfGraph } from './memory-ledger-graph-items.ts';
import { pageOf } from './memory-ledger-page.ts';
import { unprojectedIn } from './memory-ledger-speech.ts';
import { type BatchRow, type CallRow, type LaneRow, rowOf, type State } from './memory-ledger-state.ts';
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
      return usesOf(today).map(({ day: _, ...use }) => use);
    },
    glance: async (tenant, how) => glance(state, tenant, how),
    measured: async (tenant, how) => measured(state, tenant, how),
    usageOf: async (id) => totals(state.calls.filter((call) => call.consolidationId === id)),
    owners: async (tenant, page, { idPrefix, order } = { idPrefix: '', order: 'created' }) => {
      const lanes = lanesOf(state, tenant).filter(({ owner }) => owner.id.startsWith(idPrefix));
      const paged = pageOf(lanes, (lane) => ({ order: lane[`${order}At`], id: lane.id }), page);
      return { ...paged, results: paged.results.map((lane) => summaryOf(state, lane)) };
    },
    // Only files are backed up.
    lastBackup: async () => null,
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

function glance(state: State, tenant: TenantId, how: HowToGlance): Glance {
  const { now, since, entriesMax, rowsMax } = how;
  const batches = newestOf([...state.batches.values()].filter((batch) => batch.tenant === tenant));
  const parked = batches.filter((batch) => batch.state === 'parked').slice(0, rowsMax);
  const consolidated = batches.filter((batch) => batch.state === 'consolidated' && batch.acceptedAt >= since);
  const took = consolidated
    .slice(0, rowsMax)
    .flatMap((batch) =>
      batch.priority === 'backfill' || batch.searchableAt === null ? [] : batch.searchableAt - batch.acceptedAt,
    );
  const due = [...state.lanes.values()].flatMap((lane) => (lane.tenant === tenant ? (lane.dueAt ?? []) : []));
  const reviews = [...state.reviews.values()].filter((one) => one.tenant === tenant && one.state === 'pending');
  const answers = [...state.receipts.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, rowsMax);
  const mine = answers.filter((one) => one.tenant === tenant && one.at >= since && standsIn(state, one.lane));
  const inState = (state: BatchState): number =>
    Math.min(entriesMax, batches.filter((batch) => batch.state === state).length);
  return {
    open: { pending: inState('pending'), consolidating: inState('consolidating'), parked: inState('parked') },
    ...acceptedIn(batches, how),
    parked: countedBy(parked, (batch) => batch.failure?.code ?? 'unknown').map(([code, batches]) => ({
      code,
      batches,
    })),
    delays: took.sort((a, b) => a - b),
    oldestDue: due.filter((dueAt) => dueAt <= now).sort((a, b) => a - b)[0] ?? null,
    reviews: Math.min(reviews.length, entriesMax),
    usage: usageByStep(state, tenant, how),
    answers: countedBy(mine, (one) => one.route).map(([route, answers]) => ({ route, answers })),
    answersSince: answers.length < rowsMax ? since : Math.max(since, answers.at(-1)?.at ?? since),
  };
}

function measured(state: State, tenant: TenantId, { from, to, rowsMax }: HowToMeasure): MeasuredStretch {
  const newest = <T>(rows: Iterable<T>, at: (row: T) => Millis): T[] =>
    [...rows]
      .filter((row) => at(row) >= from && at(row) < to)
      .sort((a, b) => at(b) - at(a))
      .slice(0, rowsMax);
  const ofTenant = <T extends { readonly tenant: TenantId }>(rows: Iterable<T>): T[] =>
    [...rows].filter((row) => row.tenant === tenant);
  const tally = <T>(rows: readonly T[], isAgainst: (row: T) => boolean): Tally => ({
    part: rows.filter(isAgainst).length,
    of: rows.length,
  });
  const reviews = ofTenant(state.reviews.values()).filter((one) => ['approved', 'rejected'].includes(one.state));
  const rated = ofTenant([...state.memories.values()]).flatMap((memory) =>
    state.events.filter((event) => event.memoryId === memory.id && (event.rated?.rating ?? null) !== null),
  );
  const judged = ofTenant(state.receipts.values()).filter((one) => one.outcome !== null);
  const found = ofTenant(state.consolidations.values()).filter(({ id }) => state.figures.has(id));
  return {
    consolidations: newest(found, (one) => one.createdAt).map(({ id, lane, state: standing }) => ({
      ...rowOf(state.figures, id),
      lane,
      undone: standing === 'undone',
    })),
    opinions: {
      reviews: tally(
        newest(reviews, (one) => one.createdAt),
        (one) => one.state === 'rejected',
      ),
      ratings: tally(
        newest(rated, (event) => event.recordedAt),
        (event) => event.rated?.rating !== 'positive',
      ),
      outcomes: tally(
        newest(judged, (one) => one.at),
        (one) => one.outcome === 'bad',
      ),
    },
  };
}

const newestOf = (batches: readonly BatchRow[]): BatchRow[] => batches.toSorted((a, b) => b.acceptedAt - a.acceptedAt);

const standsIn = (state: State, lane: LaneId): boolean => state.lanes.get(lane)?.erasure === null;

function countedBy<T, K extends string>(items: readonly T[], keyOf: (item: T) => K): (readonly [K, number])[] {
  const counts = [...Map.groupBy(items, keyOf)].map(([key, found]) => [key, found.length] as const);
  return counts.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The newest so many. Where there are more, the oldest stretch lacks some. */
function acceptedIn(
  batches: readonly BatchRow[],
  { since, everyMs, entriesMax }: HowToGlance,
): Pick<Glance, 'accepted' | 'acceptedSince'> {
  const startOf = ({ acceptedAt }: BatchRow): Millis => acceptedAt - (acceptedAt % everyMs);
  const newest = batches
    .filter(({ acceptedAt }) => acceptedAt >= since)
    .toSorted((a, b) => b.acceptedAt - a.acceptedAt)
    .slice(0, entriesMax);
  const acceptedSince = newest.length < entriesMax ? since : Math.min(...newest.map(startOf)) + everyMs;
  const accepted = [...Map.groupBy(newest, (batch) => `${startOf(batch)} ${batch.state}`).values()].flatMap((some) => {
    const [first] = some;
    return first === undefined ? [] : [{ from: startOf(first), state: first.state, batches: some.length }];
  });
  const order = (a: AcceptedBatches, b: AcceptedBatches): number => a.from - b.from || (a.state < b.state ? -1 : 1);
  return { accepted: accepted.filter(({ from }) => from >= acceptedSince).sort(order), acceptedSince };
}

const usageByStep = (state: State, tenant: TenantId, { fromDay }: HowToGlance): UsageOfStep[] =>
  usesOf(state.calls.filter((call) => payerOf(call.tenant) === tenant && dayOf(call.at) >= fromDay));

function usesOf(calls: readonly CallRow[]): UsageOfStep[] {
  const keyOf = ({ at, model, step }: CallRow): string => JSON.stringify([dayOf(at), model, step]);
  const groups = [...Map.groupBy(calls, keyOf)].map(([key, some]): UsageOfStep => {
    const [day, model, step] = JSON.parse(key) as [number, string, UsageStep];
    return { day, step, model, ...totals(some), cost: some.reduce((sum, { cost }) => sum + (cost ?? 0), 0) };
  });
  const order = ({ day, model, step }: UsageOfStep): string => [String(day).padStart(6), model, step].join('\n');
  return groups.sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

const isLive = (memory: Memory): boolean => liveVersion(memory) !== null;

function isOf({ tenant, lane }: CallRow, of: { readonly tenant: TenantId } | Account): boolean {
  if ('tenant' in of) return payerOf(tenant) === of.tenant;
  return 'lane' in of ? lane === of.lane : lane === null && payerOf(tenant) === payerOf(of.strangersOf);
}

function totals(calls: readonly CallRow[]): UsageTotals {
  return {
    calls: calls.length,
    failedCalls: calls.filter((call) => call.state !== 'answered').length,
    promptTokens: calls.reduce((sum, call) => sum + call.usage.promptTokens, 0),
    cachedTokens: calls.reduce((sum, call) => sum + (call.usage.cachedTokens ?? 0), 0),
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
