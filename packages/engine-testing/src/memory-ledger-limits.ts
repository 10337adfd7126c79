import type { LimitStore } from '@slowwave/engine';
import { climb, economyNotice } from '@slowwave/engine/storing';
import type { State } from './memory-ledger-state.ts';
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
});
