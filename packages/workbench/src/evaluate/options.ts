import { argumentsIn, numberOf, UsageError } from '../arguments.ts';

export interface Options {
  readonly file: string;
  readonly url: string;
  readonly apiKey: string | null;
  readonly modelPort: number;
  readonly start: boolean;
  readonly oneByOne: boolean;
  readonly json: boolean;
  readonly userPrefix: string;
  readonly timeoutMs: number;
}

export const EXIT = { passed: 0, below: 1, usage: 2, server: 3 } as const;

export const DEFAULT_URL = 'http://127.0.0.1:7070';
const DEFAULT_MODEL_PORT = 7_079;
export const DEFAULT_TIMEOUT_S = 600;

export const HELP = `Usage: ./scripts/evaluate FILE [options]
       ./scripts/evaluate retrieval FILE [options]     what searches find; see its own --help
       ./scripts/evaluate prompts [options]            what a chat model answers to the prompts; see its own --help

Runs a conversation with a known outcome against a running server, through its HTTP API, and compares the result
with the quality targets. The model is scripted and never errs, so that the engine is judged and not a model.
This program starts the model, prints the settings the server has to run with, and waits up to a minute for the server.

FILE is JSON: {"batches":[{"batchId","at","messages":[{"id","role","content"}]}],
"goldFinal":[texts that hold in the end],"questions":[{"q","goldTexts":[…]}]}. Every message is one fact; a text that
is not in goldFinal was replaced by a later one that is, with the same beginning.

Options:
  --url URL           Where the server is (${DEFAULT_URL}).
  --start             Start a server for this run, on a free port and with a folder that is removed afterwards.
  --one-by-one        Wait for each batch before posting the next; by default all are posted at once.
  --user PREFIX       Prefix of the user id that everything is posted for (evaluate).
  --api-key KEY       API key of the server, if it requires one.
  --model-port PORT   Where the scripted model listens (${DEFAULT_MODEL_PORT}; 0: any free port).
  --timeout SECONDS   Maximum time the server may take (${DEFAULT_TIMEOUT_S}).
  --json              Print the results as JSON.
  --help, -h          Show this.

Exit code: ${EXIT.passed} all targets reached, ${EXIT.below} below a target, ${EXIT.usage} invalid usage or an unusable file, ${EXIT.server} the server cannot be reached,
does not use the scripted model, or did not finish.
`;

const FLAGS = {
  url: { type: 'string' },
  start: { type: 'boolean' },
  'one-by-one': { type: 'boolean' },
  user: { type: 'string' },
  'api-key': { type: 'string' },
  'model-port': { type: 'string' },
  timeout: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** null when help was asked for. Throws UsageError. */
export function readOptions(args: readonly string[]): Options | null {
  const { values, positionals } = argumentsIn(args, FLAGS, true);
  if (values.help === true) return null;
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) {
    throw new UsageError(`expected one FILE, got ${positionals.length === 0 ? 'none' : positionals.join(' ')}`);
  }
  if (values.start === true && values.url !== undefined) {
    throw new UsageError('--start brings its own server: leave --url out');
  }
  const start = values.start === true;
  return {
    file,
    url: urlOf(values.url ?? DEFAULT_URL),
    apiKey: values['api-key'] ?? null,
    modelPort: numberOf('--model-port', values['model-port'] ?? String(start ? 0 : DEFAULT_MODEL_PORT), 65_535),
    start,
    oneByOne: values['one-by-one'] === true,
    json: values.json === true,
    userPrefix: values.user ?? 'evaluate',
    timeoutMs: numberOf('--timeout', values.timeout ?? String(DEFAULT_TIMEOUT_S), 86_400) * 1_000,
  };
}

export function urlOf(given: string): string {
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`expected --url to be like ${DEFAULT_URL}, got ${given}`);
  }
  return given.replace(/\/+$/, '');
}
