import type { Scope } from '../../words.ts';
import type { Filter } from './filter.ts';

const IDS = ['userId', 'agentId', 'runId', 'appId'] as const;

/**
 * The scope that a filter names by itself: the ids that must be equal to one value whatever else is true. For callers
 * that give no other scope; whoever takes it checks the caller's key against it as against any scope. The filter stays
 * as it is, so that an id it names twice, differently, finds nothing. null when it names no owner.
 */
export function scopeFromFilter(filter: Filter): Scope | null {
  const ids = new Map(required(filter));
  const [userId, agentId, runId, appId] = IDS.map((name) => ids.get(name) ?? null);
  const scope: Scope = { userId: userId ?? null, agentId: agentId ?? null, runId: runId ?? null, appId: appId ?? null };
  return scope.userId === null && scope.agentId === null && scope.runId === null ? null : scope;
}

function required(filter: Filter): (readonly [string, string])[] {
  if (filter.kind === 'all') return filter.of.flatMap(required);
  if (filter.kind !== 'condition' || filter.test.kind !== 'equals') return [];
  const { name } = filter.field;
  const [value, ...more] = filter.test.values;
  if (more.length > 0 || typeof value !== 'string' || !IDS.some((id) => id === name)) return [];
  return [[name, value]];
}
