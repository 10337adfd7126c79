import type { ShareStore } from '@slowwave/engine';
import type { State } from './memory-ledger-state.ts';

export const memoryShares = ({ shares }: State): ShareStore => ({
  held: async (tenant) => shares.get(tenant) ?? null,
  take: async (tenant, share) => {
    const held = shares.get(tenant);
    if (held !== undefined && held.epoch > share.epoch) return held;
    shares.set(tenant, { ...share });
    return share;
  },
  want: async (tenant, epoch) => {
    const held = shares.get(tenant);
    if (held?.epoch === epoch) shares.set(tenant, { ...held, wants: true });
  },
  wanting: async (limit) =>
    [...shares]
      .flatMap(([tenant, { wants }]) => (wants ? [tenant] : []))
      .sort()
      .slice(0, limit),
});
