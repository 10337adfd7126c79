import type { Ledger } from '@slowwave/engine';
import type { Access } from './access.ts';
import { settingsStore } from './settings.ts';

/** The stores of any SQL ledger. Whoever loads this knows every script by its name. */
export const storesOf = (access: Access): Pick<Ledger, 'settings'> => ({
  settings: settingsStore(access),
});
