import { DEFAULT_SETTINGS, type ModelStore, type SettingsStore, type TenantId, type Terms } from '@slowwave/engine';
import type { State } from './memory-ledger-state.ts';

export function memorySettings(state: State): SettingsStore {
  return {
    terms: async (tenant) => termsIn(state, tenant),
    get: async (tenant) => state.settings.get(tenant) ?? DEFAULT_SETTINGS,
    put: async (tenant, settings) => void state.settings.set(tenant, structuredClone(settings)),
    ceilings: async (tenant) => state.ceilings.get(tenant) ?? null,
    putCeilings: async (tenant, ceilings) => {
      if (ceilings === null) state.ceilings.delete(tenant);
      else state.ceilings.set(tenant, { ...ceilings });
    },
  };
}

export const termsIn = (state: State, tenant: TenantId): Terms => ({
  rules: state.settings.get(tenant) ?? DEFAULT_SETTINGS,
  ceilings: state.ceilings.get(tenant) ?? null,
  economy: state.economies.get(tenant) ?? null,
  shareEpoch: state.shares.get(tenant)?.epoch ?? null,
});

export const memoryModels = ({ models }: State): ModelStore => ({
  get: async (name) => structuredClone(models.get(name) ?? null),
  put: async (name, known) => {
    if (known === null) models.delete(name);
    else models.set(name, structuredClone(known));
  },
  swap: async (name, before, known) => {
    if (JSON.stringify(models.get(name) ?? null) !== JSON.stringify(before)) return false;
    if (known === null) models.delete(name);
    else models.set(name, structuredClone(known));
    return true;
  },
});
