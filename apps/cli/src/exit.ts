/** What the program ends with; docs/cli.md has them for people. */
export const EXIT = {
  done: 0,
  /** It did not work; the message says why. */
  failed: 1,
  /** The command line or the settings cannot be used. */
  misused: 2,
  /** It was looked at, and something is wrong with it. */
  findings: 3,
  /** What was asked for does not exist. */
  notFound: 4,
  /** A server or a file cannot be reached just now; later it may work. */
  unavailable: 5,
  /** Ctrl-C, as shells have it. */
  interrupted: 130,
} as const;

/** A command line that says something else than the commands and options there are. */
export class UsageError extends Error {
  readonly exitCode = EXIT.misused;
  readonly code = 'misused';

  constructor(problem: string, command: string | null) {
    const help = command === null ? 'slowwave --help' : `slowwave ${command} --help`;
    super(`${problem}\nSee ${help}.`);
    this.name = 'UsageError';
  }
}

/** What an ending is called in JSON, where nobody gave it a better name. */
const CODES: Readonly<Record<number, string>> = {
  [EXIT.misused]: 'misused',
  [EXIT.notFound]: 'not_found',
  [EXIT.unavailable]: 'unavailable',
};

/** A failure with an ending of its own. */
export class CommandError extends Error {
  readonly exitCode: number;
  readonly code: string;

  constructor(message: string, exitCode: number, code?: string) {
    super(message);
    this.name = 'CommandError';
    this.exitCode = exitCode;
    this.code = code ?? CODES[exitCode] ?? 'failed';
  }
}
