import { argumentsIn, numberOf, UsageError } from '../arguments.ts';
import { MODES, type Mode } from './stage.ts';

export interface Options {
  readonly modes: readonly Mode[];
  readonly seed: number;
  readonly faults: number;
  readonly minutes: number;
  readonly only: readonly string[];
  readonly qdrantUrl: string | null;
  readonly json: boolean;
  readonly keep: boolean;
}

export const EXIT = { passed: 0, findings: 1, usage: 2 } as const;

const DEFAULTS = { faults: '500', minutes: '120' };

export const HELP = `Usage: ./scripts/chaos [options]

Runs Slowwave as real processes with a scripted model, lets many users talk, and makes things go wrong: processes killed
at every border between steps and anywhere else, Redis and PostgreSQL killed, Redis and the index wiped, the ledger busy or
its disk full, every way a model can fail, wrong clocks, turns delivered twice, workers that pause past their lock. After each
group of faults it waits until all is quiet and checks that nothing is lost, doubled, out of order, or paid for twice,
that events replay to what holds, that graphs are what was said, and that the index is what the ledger says.

Options:
  --mode MODE       sqlite (ingest, two workers, search and console on Redis), postgres (the same on PostgreSQL with
                    --qdrant-url, else everything in one process on PostgreSQL and Redis), postgres-alone (five processes
                    with ledger, queue and index in PostgreSQL), embedded (one process, nothing else), or all, one after the other (all).
  --faults N        How many faults each mode gets (${DEFAULTS.faults}).
  --minutes M       Stop a mode after this long, even with fewer faults (${DEFAULTS.minutes}).
  --seed N          Which faults, and when; printed with the result (any).
  --only KIND       Only faults of this kind; can be given several times. The table names the kinds.
  --qdrant-url URL  A Qdrant for the fleet on PostgreSQL.
  --keep            Leave the data folder where it is when something was found.
  --json            Print the results as JSON.
  --help, -h        Show this.

Exit code: ${EXIT.passed} nothing was found, ${EXIT.findings} something was, ${EXIT.usage} wrong use.
`;

const FLAGS = {
  mode: { type: 'string' },
  faults: { type: 'string' },
  minutes: { type: 'string' },
  seed: { type: 'string' },
  only: { type: 'string', multiple: true },
  'qdrant-url': { type: 'string' },
  keep: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const MOST = 1_000_000;

/** null when help was asked for. Throws UsageError. */
export function readOptions(args: readonly string[]): Options | null {
  const { values } = argumentsIn(args, FLAGS);
  if (values.help === true) return null;
  return {
    modes: modesOf(values.mode ?? 'all'),
    seed: numberOf('--seed', values.seed ?? String(Math.floor(Math.random() * MOST)), MOST),
    faults: numberOf('--faults', values.faults ?? DEFAULTS.faults, MOST),
    minutes: numberOf('--minutes', values.minutes ?? DEFAULTS.minutes, MOST),
    only: values.only ?? [],
    qdrantUrl: values['qdrant-url'] ?? null,
    json: values.json === true,
    keep: values.keep === true,
  };
}

function modesOf(given: string): readonly Mode[] {
  if (given === 'all') return MODES;
  const mode = MODES.find((one) => one === given);
  if (mode === undefined) throw new UsageError(`expected --mode to be one of all, ${MODES.join(', ')}, got ${given}`);
  return [mode];
}
