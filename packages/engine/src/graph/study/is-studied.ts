import type { Turn } from '../../ports/ledger/lanes.ts';
import type { TenantSettings } from '../../settings.ts';

/**
 * Whether the graph has a study of what a turn consolidates. What is stored word for word reaches no model, and procedures
 * tell of no people and places.
 */
export const isStudied = ({ settings }: Pick<Turn, 'settings'>, rules: Pick<TenantSettings, 'graph'>): boolean =>
  settings.infer && settings.memoryType === null && (settings.graph ?? rules.graph);
