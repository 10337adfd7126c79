import type { Config } from '@slowwave/adapters/config';
import { EXIT } from './exit.ts';
import type { Output } from './output.ts';

/** An option of a command: a switch, or one with a value. */
export interface OptionNote {
  /** What the value is called in the help; null: a switch. */
  readonly value: string | null;
  readonly about: string;
}

/** The options and arguments a command was given, by name. */
export interface Given {
  readonly words: readonly string[];
  text(option: string): string | null;
  flag(option: string): boolean;
}

/** What a command runs with. */
export interface Call {
  readonly given: Given;
  readonly config: Config;
  readonly out: Output;
  /** Aborted by Ctrl-C. */
  readonly cancel: AbortSignal;
}

/** Whether it works on the ledger itself. */
export const isOffline = ({ given }: Pick<Call, 'given'>): boolean => given.flag('offline');

/** One thing the program can do. */
export interface Command {
  /** As it is typed, e.g. "rebuild index". */
  readonly name: string;
  /** Its arguments as the help shows them, e.g. "<id>"; '' for none. */
  readonly usage: string;
  /** How many arguments it takes, at least and at most. */
  readonly words: readonly [number, number];
  /** One line for the list of all commands. */
  readonly summary: string;
  /** The rest of what its help says. */
  readonly about: string;
  readonly options: Readonly<Record<string, OptionNote>>;
  /** What it works on: whatever server or ledger was named, or always the stores that the settings name. */
  readonly on: 'server or ledger' | 'stores';
  /** Answers with what the program ends with. */
  run(call: Call): Promise<number>;
}

const FOR_SERVERS: Readonly<Record<string, OptionNote>> = {
  server: {
    value: 'URL',
    about: 'Server to connect to (SLOWWAVE_URL; default: the standalone server on this machine).',
  },
  offline: { value: null, about: 'Work directly on the ledger, without a server.' },
};

const FOR_ALL: Readonly<Record<string, OptionNote>> = {
  'data-dir': { value: 'DIR', about: 'Folder with ledger and index (SLOWWAVE_DATA_DIR).' },
  json: { value: null, about: 'Print JSON.' },
  help: { value: null, about: 'Show this.' },
};

/** Everything a command may be told, its own options first. */
export const optionsOf = ({ options, on }: Command): Readonly<Record<string, OptionNote>> => ({
  ...options,
  ...(on === 'stores' ? {} : FOR_SERVERS),
  ...FOR_ALL,
});

/** An option with a value that cannot be used. */
class OptionError extends Error {
  readonly exitCode = EXIT.misused;

  constructor(option: string, expected: string, got: string) {
    super(`--${option}: expected ${expected}, got "${got}"`);
    this.name = 'OptionError';
  }
}

/** A whole number from 1 to a most. */
export function countOf(given: Given, option: string, { usual, max }: { usual: number; max: number }): number {
  const text = given.text(option);
  if (text === null) return usual;
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > max)
    throw new OptionError(option, `a whole number from 1 to ${max}`, text);
  return count;
}

/** One of a few words; null: not given. */
export function oneOf<Word extends string>(given: Given, option: string, words: readonly Word[]): Word | null {
  const text = given.text(option);
  const found = words.find((word) => word === text) ?? null;
  if (text !== null && found === null) throw new OptionError(option, `one of ${words.join(', ')}`, text);
  return found;
}

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const ISO = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** A moment, or how long ago it was, in ISO 8601; null: not given. */
export function momentOf(given: Given, option: string, now: number = Date.now()): string | null {
  const text = given.text(option);
  if (text === null) return null;
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(now - Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS]).toISOString();
  const at = ISO.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new OptionError(option, 'a moment like 2026-03-01T09:30:00Z, or 30m, 2h, 7d ago', text);
  return new Date(at).toISOString();
}

/** Whose lane is meant: exactly one of a user, an agent, a run. */
export function ownerOf(given: Given): Readonly<Record<string, string>> {
  const ids = { user_id: given.text('user'), agent_id: given.text('agent'), run_id: given.text('run') };
  const named = Object.entries(ids).flatMap(([name, id]) => (id === null ? [] : [[name, id] as const]));
  if (named.length === 1) return Object.fromEntries(named);
  throw new OptionError('user', 'one of --user, --agent, --run', named.map(([, id]) => id).join(', '));
}
