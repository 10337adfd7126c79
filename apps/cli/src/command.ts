import type { Config } from '@slowwave/adapters/config';
import type { Asking } from './api.ts';
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
export interface Call extends Asking {
  readonly given: Given;
  readonly config: Config;
  readonly out: Output;
  /** Aborted by Ctrl-C. */
  readonly cancel: AbortSignal;
}

/** Whether it works directly on the ledger. */
export const isOffline = ({ given }: Pick<Call, 'given'>): boolean => given.flag('offline');

/** What a command prints at its end: the value with --json, else the text. */
export interface Outcome {
  readonly value: unknown;
  readonly text: string;
  /** A remark for people on standard error, not printed with --json. */
  readonly note?: string;
  /** The exit code; by default that of success. */
  readonly exit?: number;
}

/** One command of the program. */
export interface Command {
  /** As it is typed, e.g. "rebuild index". */
  readonly name: string;
  /** Its arguments: "<id>" for each that it needs, "[file]" for an optional one, "[batch id…]" for any number; by default none. */
  readonly usage?: string;
  /** One line for the list of all commands. */
  readonly summary: string;
  /** The rest of its help. */
  readonly about?: string;
  readonly options?: Readonly<Record<string, OptionNote>>;
  /** stores: works directly on the configured stores, never through a server. server: never on the stores. */
  readonly on?: 'stores' | 'server';
  /** Whether it changes anything, so that offline no standalone server may use the folder. */
  readonly writes?: true;
  /** null: it has printed everything itself. */
  run(call: Call): Promise<Outcome | null>;
}

/** The fewest and the most arguments that a command takes. */
export function argumentsOf({ usage = '' }: Command): readonly [number, number] {
  if (usage.includes('…')) return [0, ARGUMENTS_MAX];
  const [needed, optional] = [/<[^>]*>/g, /\[[^\]]*\]/g].map((form) => usage.match(form)?.length ?? 0);
  return [needed ?? 0, (needed ?? 0) + (optional ?? 0)];
}

const ARGUMENTS_MAX = 1_000;

/** Options of several commands. */
export const USER: OptionNote = { value: 'ID', about: 'Only batches of this user.' };
export const SINCE: OptionNote = {
  value: 'MOMENT',
  about: 'Only batches accepted since this time, e.g. 2026-03-01T09:30:00Z or 30m, 2h, 7d.',
};
export const UNTIL: OptionNote = { value: 'MOMENT', about: 'Only batches accepted before this time.' };
export const TENANT: OptionNote = { value: 'NAME', about: 'The tenant, if different from that of the key in use.' };

/** Whose something is: one of these, see ownerOf. */
export const OWNER: Readonly<Record<string, OptionNote>> = {
  user: { value: 'ID', about: 'The owner: a user,' },
  agent: { value: 'ID', about: 'or an agent,' },
  run: { value: 'ID', about: 'or a run.' },
};

const SERVER: Readonly<Record<string, OptionNote>> = {
  server: {
    value: 'URL',
    about: 'Server to connect to (SLOWWAVE_URL; default: the standalone server on this machine).',
  },
};

const OFFLINE: Readonly<Record<string, OptionNote>> = {
  offline: { value: null, about: 'Work directly on the ledger, without a server.' },
};

const FOR_ALL: Readonly<Record<string, OptionNote>> = {
  'data-dir': { value: 'DIR', about: 'Folder with ledger and index (SLOWWAVE_DATA_DIR).' },
  json: { value: null, about: 'Print JSON.' },
  help: { value: null, about: 'Show this help.' },
};

/** All options of a command, its own first. */
export const optionsOf = ({ options = {}, on }: Command): Readonly<Record<string, OptionNote>> => ({
  ...options,
  ...(on === 'stores' ? {} : SERVER),
  ...(on === undefined ? OFFLINE : {}),
  ...FOR_ALL,
});

/** An option with a value that cannot be used. */
export class OptionError extends Error {
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
  const named = present(ids) as Record<string, string>;
  if (Object.keys(named).length === 1) return named;
  throw new OptionError('user', 'one of --user, --agent, --run', Object.values(named).join(', '));
}

/** The options that have a value; others are left out. */
export const present = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

/** The first argument, as part of a path. */
export const pathWord = ({ given }: Pick<Call, 'given'>): string => encodeURIComponent(given.words[0] ?? '');
