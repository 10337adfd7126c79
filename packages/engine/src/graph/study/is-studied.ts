import type { Turn } from '../../ports/ledger/lanes.ts';
import { spaceIn } from '../../replays/space.ts';
import type { TenantSettings } from '../../settings.ts';

/**
 * Whether the graph has a study of what a turn consolidates. What is stored word for word reaches no model, procedures tell of
 * no people and places, and what-ifs tell of memories alone.
 */
export const isStudied = (
  { tenant, settings }: Pick<Turn, 'tenant' | 'settings'>,
  rules: Pick<TenantSettings, 'graph'>,
): boolean =>
  settings.infer && settings.memoryType === null && spaceIn(tenant) === null && (settings.graph ?? rules.graph);
