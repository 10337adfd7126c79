import type { Departed, Departure, DepartureStore, Millis, NewDeparture, Owner, TenantId } from '@slowwave/engine';
import { canonical, GIVEN_UP_MS, isStill, liveVersion, ownerKeyOf, spaceIn, stampWith } from '@slowwave/engine/storing';
import { cutOff } from './memory-ledger-erasures.ts';
import type { BatchRow, LaneRow, State } from './memory-ledger-state.ts';
import { forgetTopics } from './memory-ledger-topics.ts';
import { elsewhere, findLane } from './memory-ledger-turns.ts';

export function memoryDepartures(state: State): DepartureStore {
  const { away, tools } = state;
  const placeOf = (tenant: TenantId, owner: Owner): string => ownerKeyOf(tools, { tenant, owner });
  const shown = ({ bits: _, ...departure }: Departure & { bits: number }): Departure => departure;
  const find = (tenant: TenantId, owner: Owner): Departure | null => {
    const found = away.get(placeOf(tenant, owner));
    return found === undefined ? null : shown(found);
  };
  return {
    stamp: async (tenant, owner) => {
      const lane = findLane(state, tenant, owner);
      return lane === null ? null : stampOf(state, lane);
    },
    leave: async (tenant, owner, { until, now }) => {
      const lane = findLane(state, tenant, owner);
      if (lane === null) return null;
      lane.leavingUntil = until;
      return [...waitsOf(state, lane), ...workOf(state, lane, now)];
    },
    depart: async (tenant, owner, departure) => depart(state, { tenant, owner }, departure),
    whereIs: async (tenant, owner) =>
      findLane(state, tenant, owner) === null ? elsewhere(state, tenant, owner) : null,
    find: async (tenant, owner) => find(tenant, owner),
    withBits: async (tenant, bits) =>
      [...away.values()].filter((one) => one.tenant === tenant && one.bits === bits).map(shown),
    count: async () => away.size,
    forget: async (tenant, owner) => {
      const found = find(tenant, owner);
      away.delete(placeOf(tenant, owner));
      return found;
    },
    drop: async (now, limit) => {
      const over = [...away].filter(([, { until }]) => until <= now).slice(0, limit);
      for (const [place] of over) away.delete(place);
      return over.length;
    },
    owners: async (after, limit) =>
      [...state.lanes.values()]
        .filter(({ id, erasure, tenant }) => erasure === null && spaceIn(tenant) === null && id > (after ?? ''))
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit)
        .map(({ id, tenant, owner }) => ({ lane: id, tenant, owner })),
    sizes: async () => ({
      owners: [...state.lanes.values()].filter(({ erasure, tenant }) => erasure === null && spaceIn(tenant) === null)
        .length,
      memories: [...state.memories.values()].filter((one) => liveVersion(one) !== null && spaceIn(one.tenant) === null)
        .length,
    }),
    slots: async () => state.closedSlots,
    closeSlots: async (slots) => {
      if (slots.epoch < state.closedSlots.epoch) return null;
      state.closedSlots = slots;
      return slots;
    },
    forgetCell: async (cell) => {
      const there = [...away].filter(([, { to }]) => to.cell === cell);
      for (const [place] of there) away.delete(place);
      return there.length;
    },
    giveUp: async (now) => {
      state.givenUpAt ??= now;
      state.closedSlots = { ...state.closedSlots, closed: [{ first: 0, last: 0xff_ff }] };
      for (const lane of state.lanes.values()) lane.leavingUntil = now + GIVEN_UP_MS;
    },
    givenUpAt: async () => state.givenUpAt,
  };
}

function depart(state: State, of: { tenant: TenantId; owner: Owner }, departure: NewDeparture): Departed {
  const { tenant, owner } = of;
  const { id, to, stamp, ownerHash, bits, until, now } = departure;
  const lane = findLane(state, tenant, owner);
  const key = ownerKeyOf(state.tools, of);
  if (lane === null) {
    const known = state.away.get(key);
    if (known === undefined) return { kind: 'gone' };
    const { bits: _, ...before } = known;
    return { kind: canonical(before.to) === canonical(to) ? 'departed' : 'elsewhere', ...before };
  }
  if (!isStill(stamp, stampOf(state, lane))) return { kind: 'changed' };
  const waitsFor = waitsOf(state, lane);
  if (waitsFor.length > 0) return { kind: 'busy', waitsFor };
  forgetTopics(state, { tenant, ownerHash, agentId: owner.kind === 'agent' ? owner.id : null }, now);
  const left: Departure = { key, tenant, to, departedAt: now, until };
  state.away.set(key, { ...left, bits });
  state.erasures.set(id, {
    ...{ id, tenant, owner, ownerHash: id, lane: lane.id, state: 'requested', counts: {}, remains: [] },
    ...{ requestedAt: now, erasedAt: null, departed: true },
  });
  cutOff(lane, id);
  return { kind: 'departed', ...left };
}

function stampOf(state: State, lane: LaneRow): string {
  const ofLane = <Row>(rows: Iterable<Row & { readonly lane: unknown }>): Row[] =>
    [...rows].filter((row) => row.lane === lane.id);
  const { batches, messages, memories, consolidations, reviews, undos, taskStates, suiteCases } = state;
  const { statements, entities, relations } = state.graph;
  const receipts = ofLane(state.receipts.values());
  const rated = receipts.flatMap(({ id, outcome }) => (outcome === null ? [] : [[id, outcome]]));
  const promised = state.tools.hash(
    canonical([
      lane,
      ...[batches, messages, memories, consolidations, reviews, statements, entities, relations, suiteCases].map(
        (table) => ofLane<object>(table.values()),
      ),
      ...[undos, taskStates].map((rows) => ofLane<object>(rows)),
      ofLane(state.deliveries.values()).map(({ id }) => id),
      rated,
      ofLane(state.consolidations.values()).map(({ id }) => [state.answers.get(id), state.plans.get(id)]),
    ]),
  );
  return stampWith(promised, state.tools.hash(canonical(receipts.map(({ id }) => id))));
}

function workOf({ batches, graph, sleeps }: State, { id, dueAt }: LaneRow, now: Millis): readonly string[] {
  const isRecent = ({ state: at, claimedAt }: BatchRow) => at === 'consolidating' && (claimedAt ?? 0) > now - 60_000;
  const isClaimed = (dueAt ?? 0) <= now && batches.ofLane(id).some(isRecent);
  const isHeld = (held: { held: string | null; heldUntil: Millis } | undefined) =>
    held !== undefined && held.held !== null && held.heldUntil > now;
  return [
    ...(isClaimed ? ['a consolidation'] : []),
    ...(isHeld(graph.turns.get(id)) ? ['a study'] : []),
    ...(isHeld(sleeps.get(id)) ? ['a night'] : []),
  ];
}

function waitsOf(state: State, lane: LaneRow): readonly string[] {
  const batches = new Set(state.batches.ofLane(lane.id).map(({ id }) => id));
  const consolidations = [...state.consolidations.values()].filter((row) => row.lane === lane.id);
  const replays = [...state.replays.values()].filter(
    ({ state: at, batchIds }) =>
      (at === 'preparing' || at === 'running') && [...batchIds].some((id) => batches.has(id)),
  );
  const canaries = [...state.canaries.values()].filter(
    ({ id, tenant, finishedAt }) =>
      tenant === lane.tenant && finishedAt === null && consolidations.some(({ variant }) => variant === id),
  );
  const jobs = [...state.bulkQuestions.values()].filter(
    (question) => question.lane === lane.id && question.job !== null && question.state === 'open',
  );
  return [
    ...replays.map(({ id }) => `the replay ${id}`),
    ...canaries.map(({ id }) => `the canary ${id}`),
    ...new Set(jobs.map(({ job }) => `the bulk job ${job}`)),
  ];
}
