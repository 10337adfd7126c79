import { read } from '../api.ts';
import type { Guest } from '../faults/fault.ts';
import type { Stage } from '../stage.ts';
import type { Story } from '../story.ts';
import type { Finding } from './finding.ts';

/** Whether the counts are those of what was acknowledged. */
export async function checkTotals(
  stage: Stage,
  stories: readonly Story[],
  guests: readonly Guest[],
): Promise<Finding[]> {
  const { batches } = await read<{ batches: Record<string, number> }>(`${stage.urls.search}/v1/stats`);
  const acknowledged = acceptedOf(stories, guests);
  const poison = stories.flatMap((story) => story.batches).filter((batch) => batch.poison).length;
  const parkedMost = poison + guests.reduce((sum, { mayPark }) => sum + mayPark, 0);
  const parked = batches.parked ?? 0;
  const findings: Finding[] = [];
  if (batches.gap !== 0) findings.push({ kind: 'gap', what: `the counts do not add up: ${JSON.stringify(batches)}` });
  const what = `${acknowledged} batches were acknowledged, ${poison} to ${parkedMost} of them no model takes; the counts are ${JSON.stringify(batches)}`;
  if (batches.accepted !== acknowledged || parked < poison)
    findings.push({ kind: (batches.accepted ?? 0) > acknowledged ? 'doubled' : 'lost', what });
  else if (parked > parkedMost) findings.push({ kind: 'parked', what });
  return findings;
}

/** How many batches were acknowledged to all of them. */
export const acceptedOf = (stories: readonly Story[], guests: readonly Guest[]): number =>
  stories.reduce((sum, { batches }) => sum + batches.length, 0) +
  guests.reduce((sum, { accepted }) => sum + accepted, 0);

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
