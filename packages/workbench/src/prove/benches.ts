import { UsageError } from '../arguments.ts';
import { BENCHES } from '../bench/benches.ts';
import { type Found, ratioOf } from '../bench/report.ts';
import type { Outcome, Proof } from './proof.ts';

/** How much worse a median may be. */
const WORSE_MAX = 0.9;
const ROUNDS_MAX = 20;

/** Both take turns, so that what else the machine does meets both alike. */
export const benches: Proof = {
  name: 'benches',
  proves: 'No benchmark is more than 10% worse than at an older commit; both commits run in turns on this machine.',
  takes: '20 minutes',
  flags: {
    old: { help: 'The older commit, a tag or branch.', required: true },
    only: {
      help: 'Which benchmarks, separated by commas (./scripts/bench --help).',
      usual: 'worker,ingest,search,fresh',
    },
    rounds: { help: 'How often each runs at each commit.', usual: '3' },
  },
  run: async ({ old = '', only = '', rounds = '' }, tools) => {
    const names = only.split(',').map(known);
    const times = Number(rounds);
    if (!Number.isInteger(times) || times < 1 || times > ROUNDS_MAX) {
      throw new UsageError(`expected --rounds to be a whole number from 1 to ${ROUNDS_MAX}, got ${rounds}`);
    }
    const [before, after]: [Measured[], Measured[]] = [[], []];
    await tools.withCheckout(old, async (folder) => {
      for (let round = 0; round < times; round += 1) {
        for (const name of names) {
          before.push((await tools.json([`${folder}/scripts/bench`, name, '--json'])) as Measured);
          after.push((await tools.json(['scripts/bench', name, '--json'])) as Measured);
        }
      }
    });
    return { ...judged(before, after), report: { old, before, after } };
  },
};

function known(name: string): string {
  if (BENCHES.some((bench) => bench.name === name)) return name;
  throw new UsageError(`expected --only to name some of ${BENCHES.map((one) => one.name).join(', ')}, got ${name}`);
}

export type Measured = Found & { readonly bench: string };

interface Change {
  readonly what: string;
  readonly old: readonly number[];
  readonly now: readonly number[];
  /** How many times as good the median has become. */
  readonly better: number;
}

/** Something is worse if its median is, and every run of it is worse than every old one. */
export function judged(before: readonly Measured[], after: readonly Measured[]): Omit<Outcome, 'report'> {
  const all = changes(before, after).sort((a, b) => a.better - b.better);
  const worse = all.filter(({ better, old, now }) => better < WORSE_MAX && apart(old, now));
  const [worst, best] = [all[0], all.at(-1)];
  const ends = worst === undefined || best === undefined ? '' : `, from ${shown(worst)} to ${shown(best)}`;
  return {
    figure: `${all.length} figures in ${new Set(before.map(({ bench }) => bench)).size} benchmarks, ${worse.length} worse${ends}`,
    failures:
      all.length === 0
        ? ['the reports have no figure in common']
        : worse.map(
            ({ what, old, now, better }) =>
              `${what}: ${better.toFixed(2)} × as good: ${now.join(', ')} instead of ${old.join(', ')}`,
          ),
  };
}

const shown = ({ what, better }: Change): string => `${better.toFixed(2)} × (${what})`;

const apart = (a: readonly number[], b: readonly number[]): boolean =>
  Math.max(...a) < Math.min(...b) || Math.max(...b) < Math.min(...a);

function changes(before: readonly Measured[], after: readonly Measured[]): Change[] {
  const [old, now] = [valuesOf(before), valuesOf(after)];
  return [...old].flatMap(([what, { values, moreIsBetter }]) => {
    const others = now.get(what)?.values ?? [];
    const [was, is] = [median(values), median(others)];
    if (!(was > 0 && is > 0)) return [];
    return [{ what, old: values, now: others, better: moreIsBetter ? is / was : was / is }];
  });
}

interface Values {
  readonly moreIsBetter: boolean;
  readonly values: number[];
}

/** Of each figure all that were measured. Comparisons count as their ratio. */
function valuesOf(reports: readonly Measured[]): Map<string, Values> {
  const all = new Map<string, Values>();
  const add = (what: string, moreIsBetter: boolean, value: number): void => {
    const one = all.get(what) ?? { moreIsBetter, values: [] };
    one.values.push(value);
    all.set(what, one);
  };
  for (const { bench, figures, comparisons = [] } of reports) {
    for (const { what, value, unit } of figures) {
      if (SPEED.test(unit) || SIZE.test(unit)) add(`${bench}: ${what.trim()}, ${unit}`, SPEED.test(unit), value);
    }
    for (const one of comparisons) add(`${bench}: ${one.what}, ratio`, one.target.is === 'at least', ratioOf(one));
  }
  return all;
}

/** The more the better; other figures, such as counts and shares, are neither. */
const SPEED = /\/s$/;
const SIZE = /^(?:ns|µs|ms|s|bytes|KB|MiB|GiB)$/;

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}
