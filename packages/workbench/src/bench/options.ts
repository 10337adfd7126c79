import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { argumentsIn, UsageError } from '../arguments.ts';
import type { Bench, Given } from './bench.ts';

export const EXIT = { passed: 0, below: 1, usage: 2, server: 3 } as const;

export type Wish =
  | { readonly kind: 'help'; readonly bench: Bench | null }
  | {
      readonly kind: 'run';
      readonly bench: Bench;
      readonly given: Given;
      readonly json: boolean;
      /** The file to draw into; null: none. */
      readonly svg: string | null;
    };

/** What a command line asks for. Throws UsageError. */
export function readWish(args: readonly string[], benches: readonly Bench[]): Wish {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h') return { kind: 'help', bench: null };
  const bench = benches.find((one) => one.name === name);
  if (bench === undefined) {
    throw new UsageError(`expected one of ${benches.map((one) => one.name).join(', ')}, got ${name}`);
  }
  const values = parsed(rest, bench);
  if (values.help === true) return { kind: 'help', bench };
  const svg = typeof values.svg === 'string' ? values.svg : null;
  if (svg !== null && bench.draws === false) throw new UsageError(`${bench.name} compares nothing that could be drawn`);
  return { kind: 'run', bench, given: givenOf(bench, values), json: values.json === true, svg };
}

type Values = Readonly<Record<string, string | boolean | undefined>>;

function parsed(args: readonly string[], { flags }: Bench): Values {
  const own = Object.fromEntries(Object.keys(flags).map((flag) => [flag, { type: 'string' } as const]));
  const options = {
    ...own,
    json: { type: 'boolean' },
    svg: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  return argumentsIn(args, options).values;
}

function givenOf({ flags }: Bench, values: Values): Given {
  const textOf = (flag: string): string => String(values[flag] ?? flags[flag]?.usual ?? '');
  const numberIn = (
    flag: string,
    text: string,
    { min = 1, max = 1_000_000 }: { min?: number; max?: number },
  ): number => {
    if (/^\d+$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
    throw new UsageError(`expected --${flag} to be a whole number from ${min} to ${max}, got ${text}`);
  };
  return {
    number: (flag, range = {}) => numberIn(flag, textOf(flag), range),
    numbers: (flag, range = {}) =>
      textOf(flag)
        .split(',')
        .map((text) => numberIn(flag, text, range)),
    choice: (flag, choices) => {
      const choice = choices.find((one) => one === textOf(flag));
      if (choice !== undefined) return choice;
      throw new UsageError(`expected --${flag} to be one of ${choices.join(', ')}, got ${textOf(flag)}`);
    },
    url: (flag) => {
      const text = textOf(flag);
      if (text === '' || URL.canParse(text)) return text === '' ? null : text;
      throw new UsageError(`expected --${flag} to be a URL, got ${text}`);
    },
    path: (flag) => {
      const text = textOf(flag);
      if (text === '' || existsSync(text)) return text === '' ? null : resolve(text);
      throw new UsageError(`expected --${flag} to be a file or folder, got ${text}, which is not there`);
    },
  };
}

const SVG = '--svg FILE';
const COMMON = [
  ['--json', 'Print the results as JSON.'],
  [SVG, 'Draw what is compared.'],
  ['--help, -h', 'Show this.'],
] as const;

/** The whole command, or one bench of it. */
export function helpOf(bench: Bench | null, benches: readonly Bench[]): string {
  const head =
    bench === null
      ? [
          'Usage: ./scripts/bench NAME [options]',
          '',
          'Starts its own servers and processes, measures, and removes everything afterwards:',
          '',
        ]
      : [`Usage: ./scripts/bench ${bench.name} [options]`, '', bench.what, '', 'Options:'];
  const rows =
    bench === null
      ? benches.map(({ name, what }) => [name, what] as const)
      : Object.entries(bench.flags).map(
          ([flag, { help, usual }]) =>
            [`--${flag} ${flag.toUpperCase()}`, `${help}${usual === '' ? '' : ` (${usual})`}`] as const,
        );
  const foot =
    bench === null
      ? ['', './scripts/bench NAME --help lists its options. Details of each benchmark: docs/benchmarks.md', '']
      : [
          '',
          `Exit code: ${EXIT.passed} all targets reached, ${EXIT.below} below a target, ${EXIT.usage} invalid usage, ${EXIT.server} the measured processes failed.`,
          '',
        ];
  const common = COMMON.filter(([flag]) => flag !== SVG || bench?.draws !== false);
  const all = bench === null ? rows : [...rows, ...common];
  const width = Math.max(...all.map(([left]) => left.length));
  return [...head, ...all.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`), ...foot].join('\n');
}
