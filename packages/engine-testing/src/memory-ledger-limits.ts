import {
  DAY_MS,
  dayOf,
  type Hold,
  type HoldKind,
  type KeptHold,
  type LimitStore,
  payerOf,
  type Room,
  type TenantId,
  type Use,
} from '@slowwave/engine';
import { climb, economyNotice, holdNotice } from '@slowwave/engine/storing';
import { pageOf } from './memory-ledger-page.ts';
import type { CallRow, State } from './memory-ledger-state.ts';
import { notifyWebhooks } from './memory-ledger-webhooks.ts';

export const memoryLimits = (state: State): LimitStore => ({
  economise: async (tenant, seen, now) => {
    const climbed = climb(state.economies.get(tenant) ?? null, seen, now);
    if (climbed.economy === null) state.economies.delete(tenant);
    else state.economies.set(tenant, climbed.economy);
    if (climbed.told) notifyWebhooks(state, tenant, [economyNotice(tenant, climbed, { ...seen, at: now })]);
    return climbed;
  },
  economies: async () =>
    [...state.economies]
      .map(([tenant, economy]) => ({ tenant, ...economy }))
      .sort((a, b) => (a.tenant < b.tenant ? -1 : 1)),
  uses: async (tenant, whos, day) =>
    whos
      .flatMap(({ kind, who }) => usedBy(state, tenant, { kind, who, day }) ?? [])
      .sort((a, b) => (a.kind < b.kind ? -1 : 1)),
  usual: async (tenant, { day, days, peers }) =>
    KINDS.flatMap((kind) => {
      const known = state.medians.filter(
        (one) =>
          one.tenant === tenant && one.kind === kind && one.day < day && one.day >= day - days && one.peers >= peers,
      );
      if (known.length === 0) return [];
      const most = (of: 'calls' | 'tokens'): number => Math.max(...known.map((one) => one[of]));
      return [{ kind, calls: most('calls'), tokens: most('tokens') }];
    }),
  ownUse: async (tenant, { kind, who }, { day, days }) =>
    Array.from({ length: days }, (_, i) => day - days + i).flatMap(
      (one) => useOf(state, tenant, { kind, who, day: one }) ?? [],
    ),
  settleDays: async (day, days) => {
    state.usesSince = day - days;
    let settled = 0;
    const own = state.calls.filter((call) => isCounted(call) && dayOf(call.at) < day && dayOf(call.at) >= day - days);
    for (const [key, calls] of Map.groupBy(own, ({ tenant, at }) => JSON.stringify([tenant, dayOf(at)]))) {
      const [tenant, of] = JSON.parse(key) as [TenantId, number];
      for (const kind of KINDS) {
        const isKnown = state.medians.some((one) => one.tenant === tenant && one.kind === kind && one.day === of);
        const whos = [...new Set(calls.flatMap((call) => whoOf(call, kind) ?? []))];
        const uses = whos.flatMap((who) => useOf(state, tenant, { kind, who, day: of }) ?? []);
        if (isKnown || uses.length === 0) continue;
        const middle = (name: 'calls' | 'tokens'): number =>
          uses.map((use) => use[name]).sort((a, b) => a - b)[Math.floor((uses.length - 1) / 2)] ?? 0;
        state.medians.push({
          tenant,
          kind,
          day: of,
          peers: uses.length,
          calls: middle('calls'),
          tokens: middle('tokens'),
        });
        settled += 1;
      }
    }
    return settled;
  },
  hold: async (hold) => {
    if (state.holds.some((one) => one.tenant === hold.tenant && isOf(one, hold))) return;
    const owner = hold.kind === 'owner' ? (state.lanes.get(hold.who as never)?.owner ?? null) : null;
    state.holds.push({ ...hold, owner, releasedAt: null });
    notifyWebhooks(state, hold.tenant, [holdNotice(hold, owner)]);
  },
  holds: async (tenant, page) =>
    pageOf(
      state.holds.filter((one) => one.tenant === tenant),
      ({ heldAt, id }) => ({ order: heldAt, id }),
      page,
    ),
  release: async (tenant, id, now) => {
    const hold = state.holds.find((one) => one.tenant === tenant && one.id === id) ?? null;
    if (hold === null) return null;
    hold.releasedAt ??= now;
    return { ...hold };
  },
  heldOn: async (day) => {
    const held = state.holds.filter((one) => one.day === day && one.releasedAt === null);
    return Object.fromEntries([...Map.groupBy(held, ({ kind }) => kind)].map(([kind, some]) => [kind, some.length]));
  },
});

/** Whom somebody has let go of has all the room there is. */
export const hasRoom = (state: State, tenant: TenantId, rooms: readonly Room[]): boolean =>
  rooms.every((room) => {
    const use = usedBy(state, tenant, room);
    if (use === null || use.hold !== null) return use?.hold !== 'held';
    return use.calls < room.calls && use.tokens < room.tokens;
  });

function usedBy(state: State, tenant: TenantId, whose: Whose): Use | null {
  const used = useOf(state, tenant, whose);
  const hold = state.holds.find((one) => one.tenant === tenant && isOf(one, whose));
  return used && { kind: whose.kind, who: whose.who, ...used, hold: holdStateOf(hold) };
}

const KINDS: readonly HoldKind[] = ['app', 'key', 'owner'];

type Whose = Pick<Hold, 'kind' | 'who' | 'day'>;

const isOf = (hold: Hold, { kind, who, day }: Whose): boolean =>
  hold.kind === kind && hold.who === who && hold.day === day;

const holdStateOf = (hold: KeptHold | undefined): Use['hold'] =>
  hold === undefined ? null : hold.releasedAt === null ? 'held' : 'released';

const isCounted = ({ tenant, step }: CallRow): boolean => payerOf(tenant) === tenant && step !== 'embed';

const whoOf = (call: CallRow, kind: HoldKind): string | null =>
  ({ owner: call.lane, app: call.appId, key: call.keyId })[kind];

/** null: nothing on that day. */
function useOf(state: State, tenant: TenantId, { kind, who, day }: Whose): Pick<Use, 'calls' | 'tokens'> | null {
  const calls = state.calls.filter(
    (call) =>
      call.tenant === tenant &&
      day >= state.usesSince &&
      isCounted(call) &&
      Math.floor(call.at / DAY_MS) === day &&
      whoOf(call, kind) === who,
  );
  if (calls.length === 0) return null;
  const answered = calls.filter((call) => call.state === 'answered');
  return {
    calls: calls.filter((call) => call.state !== 'refused').length,
    tokens: answered.reduce((sum, { usage }) => sum + usage.promptTokens + usage.completionTokens, 0),
  };
}
