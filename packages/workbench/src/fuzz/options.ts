import { parseArgs } from 'node:util';

export interface Options {
  readonly requests: number;
  readonly seed: number;
  /** null: a server of its own. */
  readonly url: string | null;
  readonly apiKey: string | null;
  readonly json: boolean;
}

/** The command line cannot be followed. */
export class UsageError extends Error {}

export const EXIT = { passed: 0, findings: 1, usage: 2 } as const;

const DEFAULT_REQUESTS = '10000';

export const HELP = `Usage: ./scripts/fuzz [options]

Generates valid and invalid requests from the OpenAPI description and checks every response: none may be a server error,
take more than half a minute, or contradict the description. Without --url it starts its own server and, on Linux, first
measures the processor time of large bodies: it prints the ten costliest, and reports a refused body that takes more than
three times as long as parsing it. The requests change and delete data: never point it at a server whose memories matter.

Options:
  --requests N    How many (${DEFAULT_REQUESTS}).
  --seed N        Determines the requests; printed with the result (random).
  --url URL       A running server.
  --api-key KEY   Its key.
  --json          Print the result as JSON.
  --help, -h      Show this.

Exit code: ${EXIT.passed} nothing was found, ${EXIT.findings} something was, ${EXIT.usage} invalid usage.
`;

const FLAGS = {
  requests: { type: 'string' },
  seed: { type: 'string' },
  url: { type: 'string' },
  'api-key': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const MOST = 10_000_000;

/** null when help was asked for. Throws UsageError. */
export function readOptions(args: readonly string[], anySeed: number): Options | null {
  const values = parsed(args);
  if (values.help === true) return null;
  const url = values.url ?? null;
  if (url !== null && !URL.canParse(url)) throw new UsageError(`expected --url to be a URL, got ${url}`);
  return {
    requests: numberOf('--requests', values.requests ?? DEFAULT_REQUESTS),
    seed: numberOf('--seed', values.seed ?? String(anySeed)),
    url,
    apiKey: values['api-key'] ?? null,
    json: values.json === true,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: FLAGS }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function numberOf(flag: string, given: string): number {
  const number = Number(given);
  if (/^\d+$/.test(given) && number <= MOST) return number;
  throw new UsageError(`expected ${flag} to be a whole number up to ${MOST}, got ${given}`);
}
