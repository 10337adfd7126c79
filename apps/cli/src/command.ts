import type { Config } from '@slowwave/adapters/config';
import type { Output } from './output/output.ts';

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
