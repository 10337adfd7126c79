import {
  DAY_MS,
  dayOf,
  needsCalls,
  payerOf,
  type SentCall,
  type SettledCall,
  type TenantId,
  type UsageAsked,
  type UsageGroup,
  type UsageRow,
  type UsageStore,
  type UsageSums,
} from '@slowwave/engine';
import { hasRoom } from './memory-ledger-limits.ts';
import type { CallRow, State } from './memory-ledger-state.ts';

export function memoryUsage(state: State): UsageStore {
  return {
    note: async (call, rooms = []) => {
      if (!hasRoom(state, call.tenant, rooms)) return false;
      note(state, call);
      return true;
    },
    settle: async (calls) => {
      for (const call of calls) settle(state, call);
    },
    report: async (tenant, asked, { limit, offset }) => report(state, tenant, asked).slice(offset, offset + limit),
    past: async (tenant, { since, backfill, limit }) => {
      const applied = [...state.consolidations.values()]
        .filter((one) => one.tenant === tenant && one.state === 'applied' && one.createdAt >= since)
        .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
        .slice(0, limit);
      const uses = applied.flatMap((one) => {
        const batches = [...state.batches.values()].filter((batch) => batch.consolidationId === one.id);
        const said = batches.filter(({ priority }) => (priority === 'backfill') === backfill);
        const saidTokens = said.reduce((sum, { tokens }) => sum + tokens, 0);
        const calls = state.calls.filter((call) => call.consolidationId === one.id && call.state === 'answered');
        const used = sumsOf(calls);
        return saidTokens > 0 && used.promptTokens > 0
          ? [
              {
                lane: one.lane,
                saidTokens,
                messages: said.reduce((all, { messageCount }) => all + messageCount, 0),
                ...used,
              },
            ]
          : [];
      });
      return [...Map.groupBy(uses, ({ lane }) => lane)]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, some]) => {
          const sum = (of: (use: (typeof some)[number]) => number): number =>
            some.reduce((all, use) => all + of(use), 0);
          return {
            consolidations: some.length,
            saidTokens: sum((use) => use.saidTokens),
            messages: sum((use) => use.messages),
            promptTokens: sum((use) => use.promptTokens),
            completionTokens: sum((use) => use.completionTokens),
            cost: sum((use) => use.cost),
            unpriced: sum((use) => use.unpriced),
          };
        });
    },
    drop: async (before, limit) => {
      const old = state.calls.filter(({ kept, at }) => kept && at < before).slice(0, limit);
      for (const call of old) Object.assign(call, { kept: false });
      return old.length;
    },
  };
}

/** A call is never removed here: of one that is not kept only the day counts. */
export function note(state: State, call: SentCall): void {
  if (state.calls.some(({ id }) => id === call.id)) return;
  state.calls.push({ ...call, state: 'sent', tookMs: 0, kept: standsIn(state, call) });
}

export function settle(state: State, { noted: _, outcome, ...call }: SettledCall): void {
  const known = state.calls.findIndex(({ id }) => id === call.id);
  const row: CallRow = { ...call, state: outcome, kept: standsIn(state, call) };
  if (known === -1) state.calls.push(row);
  else if (state.calls[known]?.state === 'sent') state.calls[known] = row;
}

const standsIn = (state: State, { lane }: SentCall): boolean => lane === null || state.lanes.has(lane);

function report(state: State, tenant: TenantId, asked: UsageAsked): UsageRow[] {
  const { groups, from, to, userId, appId, keyId, step, model, cause } = asked;
  const isByCall = needsCalls(asked);
  const userOf = ({ lane }: CallRow): string | null => {
    const owner = lane === null ? undefined : state.lanes.get(lane)?.owner;
    return owner?.kind === 'user' ? owner.id : null;
  };
  const isWanted = (call: CallRow): boolean =>
    payerOf(call.tenant) === tenant &&
    (!isByCall || call.kept) &&
    call.at >= from &&
    call.at < to &&
    [
      [userId, userOf(call)],
      [appId, call.appId],
      [keyId, call.keyId],
    ].every(([a, b]) => a === undefined || a === b) &&
    [
      [step, call.step],
      [model, call.model],
      [cause, call.cause],
    ].every(([a, b]) => a === undefined || a === b);
  const values: Readonly<Record<UsageGroup, (call: CallRow) => string | number | null>> = {
    day: ({ at }) => dayOf(at) * DAY_MS,
    hour: ({ at }) => at - (at % (DAY_MS / 24)),
    step: (call) => call.step,
    model: (call) => call.model,
    cause: (call) => call.cause,
    user: userOf,
    app: ({ appId }) => appId,
    key: ({ keyId }) => keyId,
  };
  const calls = state.calls.filter(isWanted);
  const grouped = Map.groupBy(calls, (call) => JSON.stringify(groups.map((group) => values[group](call))));
  return [...grouped.values()]
    .map((some): UsageRow => {
      const [first] = some;
      const group = Object.fromEntries(groups.map((name) => [name, first === undefined ? null : values[name](first)]));
      const answered = some.filter((call) => call.state === 'answered');
      return {
        group,
        answered: { ...sumsOf(answered), tookMs: answered.reduce((sum, { tookMs }) => sum + tookMs, 0) },
        refused: some.filter((call) => call.state === 'refused').length,
        unanswered: sumsOf(some.filter((call) => call.state === 'sent')),
      };
    })
    .sort((a, b) => inOrder(a.group, b.group, groups));
}

function inOrder(a: UsageRow['group'], b: UsageRow['group'], groups: readonly UsageGroup[]): number {
  for (const group of groups) {
    const [x, y] = [a[group] ?? null, b[group] ?? null];
    if (x === y) continue;
    if (x === null || y === null) return x === null ? 1 : -1;
    return x < y ? -1 : 1;
  }
  return 0;
}

const sumsOf = (calls: readonly CallRow[]): UsageSums => {
  const sum = (of: (call: CallRow) => number): number => calls.reduce((all, call) => all + of(call), 0);
  return {
    calls: calls.length,
    promptTokens: sum(({ usage }) => usage.promptTokens),
    cachedTokens: sum(({ usage }) => usage.cachedTokens ?? 0),
    completionTokens: sum(({ usage }) => usage.completionTokens),
    cost: sum(({ cost }) => cost ?? 0),
    unpriced: calls.filter(({ cost }) => cost === null).length,
  };
};
