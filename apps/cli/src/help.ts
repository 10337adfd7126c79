import { type Command, type OptionNote, optionsOf } from './command.ts';

const COLUMN = 24;

/** The help of the whole program. */
export const programHelp = (commands: readonly Command[]): string => `Usage: ./scripts/slowwave <command> [options]

Looks after a Slowwave server, or after its data.

Commands:
${commands.map(({ name, summary }) => line(name, summary)).join('\n')}

Every command has --help, and --json for answers that programs read. It talks to
the server of --server or SLOWWAVE_URL with the key of SLOWWAVE_API_KEY; with
--offline it works on the ledger itself, which the settings name as they do for
the server (--data-dir, DATABASE_URL, QDRANT_URL, …).

It ends with 0 when it is done, 1 when it failed, 2 when it was not understood,
3 when something was found to be wrong, 4 when there is no such thing, 5 when a
server or file cannot be reached now. docs/cli.md has more.
`;

/** The help of one command. */
export function commandHelp(command: Command): string {
  const { name, usage, about, summary } = command;
  return `Usage: ./scripts/slowwave ${[name, usage, '[options]'].filter((part) => part !== '').join(' ')}

${summary}
${about === '' ? '' : `\n${about}\n`}
Options:
${Object.entries(optionsOf(command)).map(optionLine).join('\n')}
`;
}

const optionLine = ([name, { value, about }]: [string, OptionNote]): string =>
  line(`--${name}${value === null ? '' : ` ${value}`}`, about);

const line = (left: string, right: string): string => `  ${left.padEnd(COLUMN)}${right}`;
