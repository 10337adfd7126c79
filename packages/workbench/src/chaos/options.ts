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

Runs Slowwave as real processes with a scripted model, simulates many users, and injects faults: processes killed
at every boundary between steps and anywhere else, Redis and PostgreSQL killed, Redis and the index wiped, the ledger busy or
its disk full, every kind of model failure, wrong clocks, turns delivered twice, workers that pause past their lock. After each
group of faults it waits until everything is idle and checks that nothing is lost, doubled, out of order, or paid for twice,
that replayed events give the current state, that graphs match what was said, and that the index matches the ledger.

Options:
  --mode MODE       sqlite (ingest, two workers, search and console on Redis), postgres (the same on PostgreSQL with
                    --qdrant-url, else everything in one process on PostgreSQL and Redis), postgres-alone (five processes
                    with ledger, queue and index in PostgreSQL), embedded (one process, nothing else), or all modes in turn (all).
  --faults N        How many faults each mode gets (${DEFAULTS.faults}).
  --minutes M       Stop a mode after this long, even with fewer faults (${DEFAULTS.minutes}).
  --seed N          Determines the faults and their times; printed with the result (random).
  --only KIND       Only faults of this kind; can be given several times. The table names the kinds.
  --qdrant-url URL  A Qdrant for the fleet on PostgreSQL.
  --keep            Keep the data folder if something was found.
  --json            Print the results as JSON.
  --help, -h        Show this.

Exit code: ${EXIT.passed} nothing was found, ${EXIT.findings} something was, ${EXIT.usage} invalid usage.
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
