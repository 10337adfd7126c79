import type { EngineDeps } from '../deps.ts';
import { STEP } from '../graph/study/steps.ts';
import { costOf, usesOf } from '../models/budget.ts';
import { pages } from '../pages.ts';
import type { StudyView } from '../ports/ledger/graph.ts';
import type { TenantId } from '../words.ts';

/** How the studies of one side ended, and what they cost. */
export interface StudiesResult {
  readonly applied: number;
  /** Their tries are used up: what they would have learned is missing. */
  readonly parked: number;
  /** Only in life: they were not made yet. */
  readonly waiting: number;
  /** null: a model that was asked has no price. */
  readonly cost: number | null;
}

type Deps = Pick<EngineDeps, 'ledger'>;

/** Whether a space still has studies to make. The newest are looked at first: they are made last. */
export async function hasStudiesToMake({ ledger }: Deps, space: TenantId): Promise<boolean> {
  for await (const { id } of pages((page) => ledger.thoughts.list(space, {}, page))) {
    if ((await ledger.graph.study(space, id))?.state === 'pending') return true;
  }
  return false;
}

export async function consolidationsOf({ ledger }: Deps, tenant: TenantId): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for await (const { id } of pages((page) => ledger.thoughts.list(tenant, {}, page))) ids.add(id);
  return ids;
}

/** Those of some consolidations. */
export async function studiesOf(
  { ledger }: Deps,
  tenant: TenantId,
  consolidations: ReadonlySet<string>,
): Promise<StudiesResult> {
  const { prices } = await ledger.settings.get(tenant);
  const count: Record<StudyView['state'], number> = { applied: 0, parked: 0, pending: 0 };
  let cost: number | null = 0;
  for (const id of consolidations) {
    const study = await ledger.graph.study(tenant, id);
    if (study === null) continue;
    count[study.state] += 1;
    // Parked ones were answered, too.
    const answers = (await ledger.thoughts.answers(id)).filter(({ step }) => step.startsWith(STEP));
    const own = costOf(usesOf(answers, prices));
    cost = cost === null || own === null ? null : cost + own;
  }
  return { applied: count.applied, parked: count.parked, waiting: count.pending, cost };
}
