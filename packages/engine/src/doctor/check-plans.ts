import type { Plan } from '../plan.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import { type Checked, EXAMPLES_MAX, type Examining, REPORT_IT } from './findings.ts';

const PAGE = 200;

/** In every applied plan each fact ended in exactly one way. Read only where everything is. */
export async function checkPlans({ deps: { ledger }, depth, cancel }: Examining): Promise<Checked> {
  const wrong: string[] = [];
  let looked = 0;
  if (depth !== 'full') return { looked, findings: [] };
  for await (const id of appliedOnes(ledger)) {
    if (cancel.aborted) break;
    const plan = await ledger.thoughts.plan(id);
    looked += 1;
    if (plan !== null && !isWhole(plan)) wrong.push(id);
  }
  if (wrong.length === 0) return { looked, findings: [] };
  const what = `${wrong.length} plans have facts without exactly one outcome`;
  const examples = wrong.slice(0, EXAMPLES_MAX);
  return {
    looked,
    findings: [{ check: 'plans', severity: 'error', what, count: wrong.length, examples, remedy: REPORT_IT }],
  };
}

async function* appliedOnes({ audit, thoughts }: Ledger): AsyncGenerator<string> {
  for (const tenant of await audit.tenants()) {
    for (let cursor: string | null = null; ; ) {
      const page: Awaited<ReturnType<typeof thoughts.list>> = await thoughts.list(
        tenant,
        { state: 'applied' },
        { limit: PAGE, cursor },
      );
      yield* page.results.map(({ id }) => id);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
  }
}

function isWhole({ facts, outcomes }: Plan): boolean {
  const ended = outcomes.map(({ fact }) => fact);
  return (
    ended.length === facts.length && new Set(ended).size === facts.length && facts.every(({ id }) => ended.includes(id))
  );
}
