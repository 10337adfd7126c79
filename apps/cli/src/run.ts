import { parseArgs } from 'node:util';
import { CALLED_BY, nearest, readStandaloneConfig } from '@slowwave/adapters/config';
import { EngineError } from '@slowwave/engine/storing';
import { type Asking, openApi } from './api.ts';
import { argumentsOf, type Call, type Command, type Given, type OptionNote, optionsOf, present } from './command.ts';
import { EXIT, UsageError } from './exit.ts';
import { output, type Stream } from './output.ts';
import { START_HELP } from './start.ts';

/** What a run has of the world around it. */
interface Surroundings {
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly cancel: AbortSignal;
  /** Settings; by default those of the process. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs a command line. Returns the exit code. */
export async function run(
  args: readonly string[],
  commands: readonly Command[],
  around: Surroundings,
): Promise<number> {
  const json = args.includes('--json');
  try {
    const asked = parse(args, commands);
    if (asked.kind === 'help') {
      around.stdout.write(asked.command === null ? programHelp(asked.group) : commandHelp(asked.command));
      return EXIT.done;
    }
    if (asked.kind === 'version') {
      around.stdout.write(`${await version()}\n`);
      return EXIT.done;
    }
    const { command, given } = asked;
    const config = readStandaloneConfig(settingsOf(given), around.environment);
    return await runCommand(command, { given, config, out: output({ ...around, json }), cancel: around.cancel });
  } catch (error) {
    if (around.cancel.aborted) return EXIT.interrupted;
    around.stderr.write(errorText(error, json));
    return exitCodeOf(error);
  }
}

async function runCommand(command: Command, call: Omit<Call, keyof Asking>): Promise<number> {
  const api = openApi(call, command.writes === true);
  try {
    const outcome = await command.run({ ...call, ...api });
    if (outcome !== null) call.out.answer(outcome.value, outcome.text);
    if (outcome?.note !== undefined && !call.out.json) call.out.say(outcome.note);
    return outcome?.exit ?? EXIT.done;
  } finally {
    await api.close();
  }
}

/** Options that override settings. */
const settingsOf = (given: Given) =>
  present({ SLOWWAVE_URL: given.text('server'), SLOWWAVE_DATA_DIR: given.text('data-dir') }) as Record<string, string>;

function errorText(error: unknown, json: boolean): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!json) return `${message}\n`;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'failed';
  return `${JSON.stringify({ error: { code, message } })}\n`;
}

function exitCodeOf(error: unknown): number {
  if (error instanceof EngineError) return error.retryable ? EXIT.unavailable : EXIT.failed;
  const has = error instanceof Error && 'exitCode' in error && typeof error.exitCode === 'number';
  return has ? (error.exitCode as number) : EXIT.failed;
}

/** What a command line asks for. */
type Asked =
  /** null: the help of the whole program, or of the commands that begin with a word. */
  | { readonly kind: 'help'; readonly command: Command }
  | { readonly kind: 'help'; readonly command: null; readonly group: readonly Command[] }
  | { readonly kind: 'version' }
  | { readonly kind: 'run'; readonly command: Command; readonly given: Given };

/** Reads a command line: the words of a command first, then its options and arguments in any order. */
export function parse(args: readonly string[], commands: readonly Command[]): Asked {
  const [first] = args;
  if (first === undefined || isHelp(first)) return { kind: 'help', command: null, group: commands };
  if (first === '--version') return { kind: 'version' };
  if (first === 'help') return parse([...args.slice(1), '--help'], commands);
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (args.length === 2 && isHelp(args[1] ?? '') && group.length > 1 && !commands.some(({ name }) => name === first)) {
    return { kind: 'help', command: null, group };
  }
  const command = commandOf(args, commands);
  const rest = args.slice(command.name.split(' ').length);
  const { values, positionals } = parseRest(rest, command);
  if (values.help === true) return { kind: 'help', command };
  const [least, most] = argumentsOf(command);
  if (positionals.length < least || positionals.length > most) throw wrongWords(command, positionals.length);
  return { kind: 'run', command, given: givenOf(values, positionals) };
}

const isHelp = (word: string): boolean => word === '--help' || word === '-h';

/** The command with the most words that the line begins with. */
function commandOf(args: readonly string[], commands: readonly Command[]): Command {
  const begins = ({ name }: Command): boolean => name.split(' ').every((word, i) => args[i] === word);
  const [found] = commands.filter(begins).sort((a, b) => b.name.length - a.name.length);
  if (found !== undefined) return found;
  const [first = ''] = args;
  const near = commands.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name);
  const instead = near.length > 0 ? `one of: ${near.join(', ')}` : 'a command';
  const words = args.filter((arg) => !arg.startsWith('-')).slice(0, 2);
  const meant = nearest(
    first,
    commands.map(({ name }) => name),
  );
  const advice = near.length > 0 || meant === null ? '' : `; did you mean ${meant}?`;
  throw new UsageError(`expected ${instead}; got "${words.join(' ') || first}"${advice}`, null);
}

/** That of the release; the packages have the same. */
async function version(): Promise<string> {
  const { default: about } = await import('../../../package.json', { with: { type: 'json' } });
  return about.version;
}

type Values = Readonly<Record<string, string | boolean | undefined>>;

function parseRest(args: readonly string[], command: Command): { values: Values; positionals: string[] } {
  const notes = Object.entries(optionsOf(command));
  const options = Object.fromEntries(
    notes.map(([name, { value }]) => [name, { type: value === null ? ('boolean' as const) : ('string' as const) }]),
  );
  try {
    const help = { type: 'boolean' as const, short: 'h' };
    return parseArgs({ args: [...args], options: { ...options, help }, allowPositionals: true });
  } catch (error) {
    const [problem = ''] = (error instanceof Error ? error.message : String(error)).split('. To specify a positional');
    throw new UsageError(`${problem}${meantBy(args, notes)}`, command.name);
  }
}

function meantBy(args: readonly string[], options: readonly (readonly [string, unknown])[]): string {
  const names = options.map(([name]) => name);
  const flags = args.filter((arg) => arg.startsWith('--')).map((arg) => arg.slice('--'.length).replace(/=.*$/s, ''));
  const unknown = flags.find((flag) => flag !== 'help' && !names.includes(flag));
  const meant = unknown === undefined ? null : nearest(unknown, names);
  return meant === null ? '' : `; did you mean --${meant}?`;
}

const givenOf = (values: Values, words: readonly string[]): Given => ({
  words,
  text: (option) => {
    const value = values[option];
    return typeof value === 'string' ? value : null;
  },
  flag: (option) => values[option] === true,
});

function wrongWords(command: Command, got: number): UsageError {
  const { name, usage = '' } = command;
  const [least, most] = argumentsOf(command);
  const expected = usage === '' ? 'no arguments' : `arguments ${usage}`;
  const count = least === most ? '' : ` (${least} to ${most})`;
  return new UsageError(`slowwave ${name}: expected ${expected}${count}, got ${got}`, name);
}

const COLUMN = 24;

/** The help of the whole program. */
export const programHelp = (commands: readonly Command[]): string => `Usage: ${CALLED_BY} <command> [options]

Manages a Slowwave server or its data.

Commands:
${START_HELP.map(([name, summary]) => line(name, summary)).join('\n')}
${commands.map(({ name, summary }) => line(name, summary)).join('\n')}

Every command has --help, and --json for programs. Commands use the server of --server
or SLOWWAVE_URL with the key in SLOWWAVE_API_KEY. With --offline they work directly on
the ledger, which is configured with the same settings as the server (--data-dir,
DATABASE_URL, QDRANT_URL, …).

Exit codes: 0 success, 1 failure, 2 invalid command line or settings, 3 something was
found to be wrong, 4 not found, 5 a server or file is unavailable; retry later. See
docs/cli.md.
`;

/** The help of one command. */
export function commandHelp(command: Command): string {
  const { name, usage = '', about = '', summary } = command;
  return `Usage: ${CALLED_BY} ${[name, usage, '[options]'].filter((part) => part !== '').join(' ')}

${summary}
${about === '' ? '' : `\n${about}\n`}
Options:
${Object.entries(optionsOf(command)).map(optionLine).join('\n')}
`;
}

const optionLine = ([name, { value, about }]: [string, OptionNote]): string =>
  line(`--${name}${value === null ? '' : ` ${value}`}`, about);

const line = (left: string, right: string): string => `  ${left.padEnd(COLUMN)}${right}`;
