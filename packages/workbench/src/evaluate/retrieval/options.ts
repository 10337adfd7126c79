import { argumentsIn, numberOf, UsageError } from '../../arguments.ts';
import { DEFAULT_TIMEOUT_S, DEFAULT_URL, EXIT, urlOf } from '../options.ts';

export interface RetrievalOptions {
  readonly file: string;
  readonly url: string;
  readonly start: boolean;
  readonly apiKey: string | null;
  readonly userPrefix: string;
  /** Each message is a memory as it is, or what the server's model makes of it. */
  readonly mode: 'verbatim' | 'facts';
  readonly search: 'hybrid' | 'vector' | 'keyword';
  readonly atLeast: readonly Least[];
  readonly misses: boolean;
  readonly json: boolean;
  readonly timeoutMs: number;
}

/** A figure that has to be reached. */
export interface Least {
  readonly figure: string;
  readonly least: number;
}

const FIGURES = ['r@1', 'r@5', 'r@10', 'r@20', 'share@5', 'share@10', 'share@20', 'mrr', 'auroc'] as const;

export const RETRIEVAL_HELP = `Usage: ./scripts/evaluate retrieval FILE [options]

Says the conversations of FILE to a server, asks its questions of POST /v1/search, and counts how often and how far in
front the texts that answer them are. A result counts when the memory, or a message it came from, is the gold text.

FILE is JSON, in one of three forms (docs/retrieval.md has examples):
  {"conversations":[{"user","sessions":[{"at","messages":[{"role","name","content","timestamp"}]}]}],
   "questions":[{"user","question","gold":[texts],"category","answerable"}]}
  {"batches":[{"at","messages":[…]}],"questions":[{"q","goldTexts":[…]}]}, as for ./scripts/evaluate
  the public LoCoMo shape, a list of samples; its questions of category 5 count as not answerable

Options:
  --url URL           Where the server is (${DEFAULT_URL}).
  --start             Start a server of its own for this, embedded, in a folder that is removed, with the models of
                      OPENAI_API_KEY, OPENAI_BASE_URL and SLOWWAVE_…_MODEL, or else the builtin ones.
  --mode MODE         verbatim: every message is a memory, no model is asked (default). facts: the server's model extracts.
  --search MODE       hybrid (default), vector or keyword.
  --at-least LIST     Figures that have to be reached, like r@5=77,mrr=0.71; of ${FIGURES.join(', ')}.
  --misses            List the questions of which nothing was found among 20.
  --user PREFIX       The users that everything is posted for begin like this (retrieval).
  --api-key KEY       Of a server that asks for one.
  --timeout SECONDS   How long the server may take for what was said (${DEFAULT_TIMEOUT_S}).
  --json              Print the results as JSON.
  --help, -h          Show this.

Exit code: ${EXIT.passed} done and all of --at-least reached, ${EXIT.below} below it, ${EXIT.usage} invalid usage or an unusable file, ${EXIT.server} the server cannot be
reached or did not finish.
`;

const FLAGS = {
  url: { type: 'string' },
  start: { type: 'boolean' },
  mode: { type: 'string' },
  search: { type: 'string' },
  'at-least': { type: 'string' },
  misses: { type: 'boolean' },
  user: { type: 'string' },
  'api-key': { type: 'string' },
  timeout: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** null when help was asked for. Throws UsageError. */
export function readRetrievalOptions(args: readonly string[]): RetrievalOptions | null {
  const { values, positionals } = argumentsIn(args, FLAGS, true);
  if (values.help === true) return null;
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) {
    throw new UsageError(`expected one FILE, got ${positionals.length === 0 ? 'none' : positionals.join(' ')}`);
  }
  if (values.start === true && values.url !== undefined) {
    throw new UsageError('--start brings its own server: leave --url out');
  }
  return {
    file,
    url: urlOf(values.url ?? DEFAULT_URL),
    start: values.start === true,
    apiKey: values['api-key'] ?? null,
    userPrefix: values.user ?? 'retrieval',
    mode: choiceOf('--mode', values.mode, ['verbatim', 'facts'] as const),
    search: choiceOf('--search', values.search, ['hybrid', 'vector', 'keyword'] as const),
    atLeast: (values['at-least'] ?? '').split(',').filter(Boolean).map(leastOf),
    misses: values.misses === true,
    json: values.json === true,
    timeoutMs: numberOf('--timeout', values.timeout ?? String(DEFAULT_TIMEOUT_S), 86_400) * 1_000,
  };
}

/** The first choice is the usual one. */
function choiceOf<T extends string>(flag: string, given: string | undefined, choices: readonly [T, ...T[]]): T {
  if (given === undefined) return choices[0];
  const choice = choices.find((one) => one === given);
  if (choice !== undefined) return choice;
  throw new UsageError(`expected ${flag} to be one of ${choices.join(', ')}, got ${given}`);
}

/** r@5=77 and r@5=0.77 are the same. */
function leastOf(given: string): Least {
  const [figure = '', number = ''] = given.trim().toLowerCase().split('=');
  const least = Number(number);
  if (!FIGURES.some((one) => one === figure) || number === '' || !(least >= 0 && least <= 100)) {
    throw new UsageError(`expected --at-least to be like r@5=77 with one of ${FIGURES.join(', ')}, got ${given}`);
  }
  return { figure, least: least > 1 ? least / 100 : least };
}
