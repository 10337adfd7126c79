import { parseArgs } from 'node:util';
import { type Command, type Given, optionsOf } from './command.ts';
import { UsageError } from './exit.ts';

/** What a command line asks for. */
export type Asked =
  /** null: the help of the whole program. */
  | { readonly kind: 'help'; readonly command: Command | null }
  | { readonly kind: 'run'; readonly command: Command; readonly given: Given };

/** Reads a command line: the words of a command first, then its options and arguments in any order. */
export function parse(args: readonly string[], commands: readonly Command[]): Asked {
  const [first] = args;
  if (first === undefined || first === '--help' || first === '-h') return { kind: 'help', command: null };
  if (first === 'help') return { kind: 'help', command: args.length === 1 ? null : commandOf(args.slice(1), commands) };
  const command = commandOf(args, commands);
  const rest = args.slice(command.name.split(' ').length);
  const { values, positionals } = parseRest(rest, command);
  if (values.help === true) return { kind: 'help', command };
  const [least, most] = command.words;
  if (positionals.length < least || positionals.length > most) throw wrongWords(command, positionals.length);
  return { kind: 'run', command, given: givenOf(values, positionals) };
}

/** The command with the most words that the line begins with. */
function commandOf(args: readonly string[], commands: readonly Command[]): Command {
  const begins = ({ name }: Command): boolean => name.split(' ').every((word, i) => args[i] === word);
  const [found] = commands.filter(begins).sort((a, b) => b.name.length - a.name.length);
  if (found !== undefined) return found;
  const [first = ''] = args;
  const near = commands.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name);
  const instead = near.length > 0 ? `one of: ${near.join(', ')}` : 'a command';
  const words = args.filter((arg) => !arg.startsWith('-')).slice(0, 2);
  throw new UsageError(`expected ${instead}; got "${words.join(' ') || first}"`, null);
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
    throw new UsageError(problem, command.name);
  }
}

const givenOf = (values: Values, words: readonly string[]): Given => ({
  words,
  text: (option) => {
    const value = values[option];
    return typeof value === 'string' ? value : null;
  },
  flag: (option) => values[option] === true,
});

function wrongWords({ name, usage, words }: Command, got: number): UsageError {
  const expected = usage === '' ? 'no arguments' : `arguments ${usage}`;
  const count = words[0] === words[1] ? '' : ` (${words[0]} to ${words[1]})`;
  return new UsageError(`slowwave ${name}: expected ${expected}${count}, got ${got}`, name);
}
