import { aligned } from '../aligned.ts';
import { argumentsIn, UsageError } from '../arguments.ts';
import type { Given, Outcome, Proof, Tools } from './proof.ts';

/** Where things are said, and what the surroundings are. */
export interface Surroundings {
  readonly result: (text: string) => void;
  readonly note: (text: string) => void;
  readonly tools: Tools;
  /** The commit that is checked out; with a word of its own where it is changed. */
  readonly commit: () => Promise<string>;
  /** YYYY-MM-DD */
  readonly today: () => string;
  /** Changes docs/proofs.md. */
  readonly rewrite: (change: (page: string) => string) => Promise<void>;
}

const EXIT = { proved: 0, failed: 1, usage: 2 } as const;

/** The whole program; answers with its exit code. */
export async function prove(
  args: readonly string[],
  proofs: readonly Proof[],
  surroundings: Surroundings,
): Promise<number> {
  const { result, note } = surroundings;
  try {
    const wish = readWish(args, proofs);
    if (wish.kind === 'run') return await run(wish, surroundings);
    result(wish.proof === null ? helpOf(proofs) : helpOfOne(wish.proof));
    return EXIT.proved;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    note(`${error.message}. See ./scripts/prove --help.`);
    return EXIT.usage;
  }
}

interface Run {
  readonly kind: 'run';
  readonly proof: Proof;
  readonly given: Given;
  readonly json: boolean;
  readonly write: boolean;
}

type Wish = Run | { readonly kind: 'help'; readonly proof: Proof | null };

type Values = Readonly<Record<string, string | boolean | undefined>>;

const COMMON = {
  json: { type: 'boolean' },
  write: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

function readWish([name, ...rest]: readonly string[], proofs: readonly Proof[]): Wish {
  if (name === undefined || name === '--help' || name === '-h') return { kind: 'help', proof: null };
  const proof = proofs.find((one) => one.name === name);
  if (proof === undefined)
    throw new UsageError(`expected one of ${proofs.map((one) => one.name).join(', ')}, got ${name}`);
  const own = Object.fromEntries(Object.keys(proof.flags).map((flag) => [flag, { type: 'string' } as const]));
  const values: Values = argumentsIn(rest, { ...own, ...COMMON }).values;
  if (values.help === true) return { kind: 'help', proof };
  const given = Object.entries(proof.flags).flatMap(([flag, { usual, required }]) => {
    const value = values[flag] ?? usual;
    if (value === undefined && required) throw new UsageError(`${name} needs --${flag}`);
    return typeof value === 'string' ? [[flag, value] as const] : [];
  });
  const [json, write] = [values.json === true, values.write === true];
  const changed = Object.entries(proof.flags).find(
    ([flag, { usual }]) => usual !== undefined && values[flag] !== undefined,
  );
  if (write && changed !== undefined)
    throw new UsageError(`--write requires a run with the default values: remove --${changed[0]}`);
  return { kind: 'run', proof, given: Object.fromEntries(given), json, write };
}

const FAILURES_SHOWN = 20;

async function run({ proof, given, json, write }: Run, surroundings: Surroundings): Promise<number> {
  const { result, note, tools, commit, today, rewrite } = surroundings;
  note(`${proof.name}: ${proof.proves} Takes ${proof.takes}.`);
  const about = { name: proof.name, commit: await commit(), date: today() };
  const outcome = await proof.run(given, tools).catch(brokenOff);
  const proved = outcome.failures.length === 0;
  const row = rowOf(proof, { ...about, figure: outcome.figure });
  if (proved && write) await rewrite((page) => withRow(page, row));
  if (json) {
    result(`${JSON.stringify({ ...about, proved, ...outcome }, null, 2)}\n`);
  } else if (proved) {
    result(`${write ? 'Written to' : 'For'} docs/proofs.md:\n${row}\nproved ${proof.name}: ${outcome.figure}\n`);
  } else {
    const shown = outcome.failures.slice(0, FAILURES_SHOWN).map((failure) => `  ${failure}`);
    const more = outcome.failures.length - shown.length;
    const lines = [...shown, ...(more > 0 ? [`  … and ${more} more`] : [])];
    result(`${lines.join('\n')}\nnot proved ${proof.name}: ${outcome.figure}\n`);
  }
  return proved ? EXIT.proved : EXIT.failed;
}

function brokenOff(error: unknown): Outcome {
  if (error instanceof UsageError) throw error;
  const why = error instanceof Error ? error.message : String(error);
  return { figure: 'it ended early', failures: [why], report: null };
}

interface Proved {
  readonly commit: string;
  readonly date: string;
  readonly figure: string;
}

/** A row of the table in docs/proofs.md. */
const rowOf = ({ name, takes, proves }: Proof, { commit, date, figure }: Proved): string =>
  `| ${[`\`./scripts/prove ${name}\``, proves, takes, figure, commit, date].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

/** The page with the row in the place of the one for the same command. */
function withRow(page: string, row: string): string {
  const lines = page.split('\n');
  const command = row.slice(0, row.indexOf(' | '));
  const at = lines.findIndex((line) => line.startsWith(`${command} |`));
  if (at < 0) throw new Error(`expected a row ${command} in docs/proofs.md, found none`);
  return lines.with(at, row).join('\n');
}

const helpOf = (proofs: readonly Proof[]): string => `Usage: ./scripts/prove NAME [options]

Runs a check that is too long for ./scripts/test. Ends with "proved NAME: …" or with the failures.

${columns(proofs.map(({ name, takes, proves }) => [name, takes, proves]))}

Options of all proofs:
${columns(ALL)}

./scripts/prove NAME --help lists the options of a proof. The latest results: docs/proofs.md
Exit code: ${EXIT.proved} proved, ${EXIT.failed} not proved, ${EXIT.usage} invalid usage.
`;

const helpOfOne = ({ name, proves, takes, flags }: Proof): string => `Usage: ./scripts/prove ${name} [options]

${proves}
Takes ${takes}.

Options:
${columns([...Object.entries(flags).map(([flag, { help, usual, required }]) => [`--${flag} ${flag.toUpperCase()}`, `${help}${usual === undefined ? '' : ` (${usual})`}${required ? ' Required.' : ''}`]), ...ALL])}
`;

const ALL = [
  ['--json', 'Print everything that was measured as JSON.'],
  ['--write', 'On success, write the result into docs/proofs.md.'],
  ['--help, -h', 'Show this.'],
];

function columns(rows: readonly (readonly string[])[]): string {
  return aligned(rows)
    .map((line) => `  ${line}`)
    .join('\n');
}
