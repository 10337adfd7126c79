import { DEFAULT_SETTINGS, type SettingsStore } from '@slowwave/engine';
import type { State } from './memory-ledger-state.ts';

export function memorySettings(state: State): SettingsStore {
  return {
    terms: async (tenant) => ({
      rules: state.settings.get(tenant) ?? DEFAULT_SETTINGS,
      ceilings: state.ceilings.get(tenant) ?? null,
    }),
    get: async (tenant) => state.settings.get(tenant) ?? DEFAULT_SETTINGS,
    put: async (tenant, settings) => void state.settings.set(tenant, structuredClone(settings)),
    ceilings: async (tenant) => state.ceilings.get(tenant) ?? null,
    putCeilings: async (tenant, ceilings) => {
      if (ceilings === null) state.ceilings.delete(tenant);
      else state.ceilings.set(tenant, { ...ceilings });
    },
  };
}
