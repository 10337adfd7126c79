import type { Turn } from '../../ports/ledger/lanes.ts';
import type { TenantSettings } from '../../settings.ts';
import { hasFacts } from '../../words.ts';

/**
 * Whether the graph has a study of what a turn consolidates. What is stored word for word reaches no model, and procedures
 * tell of no people and places. A graph is one for all apps of its owner: a key for one app has no part in it.
 */
export const isStudied = ({ settings }: Pick<Turn, 'settings'>, rules: Pick<TenantSettings, 'graph'>): boolean =>
  hasFacts(settings) && settings.ownAppOnly !== true && (settings.graph ?? rules.graph);
