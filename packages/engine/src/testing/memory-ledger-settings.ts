import type { SettingsStore } from '../ports/ledger/settings.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import type { State } from './memory-ledger-state.ts';

export function memorySettings(state: State): SettingsStore {
  return {
    get: async (tenant) => state.settings.get(tenant) ?? DEFAULT_SETTINGS,
    put: async (tenant, settings) => void state.settings.set(tenant, structuredClone(settings)),
  };
}
