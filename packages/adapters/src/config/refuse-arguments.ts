import { STARTED_BY } from './installed.ts';
import { flagOf, SETTINGS } from './settings-list.ts';

/** A program that takes no arguments was given some. */
export class ArgumentError extends Error {
  /** The exit code of a program that cannot use what it was given. */
  readonly exitCode = 2;

  constructor(args: readonly string[]) {
    // A value may be a secret, and is not repeated.
    const flags = args.filter((arg) => arg.startsWith('-')).map((arg) => arg.replace(/=.*$/s, ''));
    super(
      `expected no arguments, got ${flags.length === 0 ? args.length : flags.join(', ')}: this program is configured by ` +
        `settings in the environment${adviceFor(flags)}. docs/settings.md lists them; only ${STARTED_BY} takes them as options`,
    );
    this.name = 'ArgumentError';
  }
}

/** Whatever is not honoured is refused. */
export function refuseArguments(args: readonly string[]): void {
  if (args.length > 0) throw new ArgumentError(args);
}

function adviceFor(flags: readonly string[]): string {
  const meant = SETTINGS.filter(({ name }) => flags.includes(`--${flagOf(name)}`));
  return meant.length === 0 ? '' : `; set ${meant.map(({ name }) => name).join(', ')}`;
}
