import { read } from '../api.ts';
import type { Stage } from '../stage.ts';
import type { Story } from '../story.ts';
import type { Finding } from './finding.ts';

/** Whether the counts are those of what was acknowledged. */
export async function checkTotals(stage: Stage, stories: readonly Story[]): Promise<Finding[]> {
  const { batches } = await read<{ batches: Record<string, number> }>(`${stage.urls.search}/v1/stats`);
  const told = stories.flatMap((story) => story.batches);
  const poison = told.filter((batch) => batch.poison).length;
  const findings: Finding[] = [];
  if (batches.gap !== 0) findings.push({ kind: 'gap', what: `the counts do not add up: ${JSON.stringify(batches)}` });
  if (batches.accepted !== told.length || batches.parked !== poison) {
    const what = `${told.length} batches were acknowledged, ${poison} of them refused by the model; the counts are ${JSON.stringify(batches)}`;
    findings.push({ kind: (batches.accepted ?? 0) > told.length ? 'doubled' : 'lost', what });
  }
  return findings;
}

interface Examination {
  readonly findings: readonly {
    readonly severity: string;
    readonly what: string;
    readonly examples: readonly string[];
  }[];
}

/** What the product finds wrong with itself. */
export async function askDoctor({ urls }: Stage): Promise<Finding[]> {
  const { findings } = await read<Examination>(`${urls.console}/v1/doctor`);
  return findings
    .filter(({ severity }) => severity === 'error')
    .map(({ what, examples }) => ({ kind: 'doctor', what: `${what} (${examples.join(', ')})` }));
}
