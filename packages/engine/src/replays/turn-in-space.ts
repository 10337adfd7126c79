import type { Turn } from '../ports/ledger/lanes.ts';
import type { TurnDeps } from '../turns/take-turn.ts';
import { depsInSpace } from './deps-in-space.ts';

/** What a turn works with. In a shadow space studies follow it, and no summaries. */
export async function depsOf(deps: TurnDeps, { tenant }: Pick<Turn, 'tenant'>): Promise<TurnDeps> {
  const inSpace = await depsInSpace(deps, tenant);
  if (inSpace === null) return deps;
  return { ...inSpace, followUps: { summarize: async () => {}, study: (lanes) => deps.followUps.study(lanes) } };
}
