import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { FULL_MANNERS, knownManners, openaiChat } from '@slowwave/adapters/openai';
import { type ChatModel, EngineError } from '@slowwave/engine';
import { SMOLLM, startModelServer, startSmolLm } from '@slowwave/testkit';
import { ServerError } from '../../api.ts';
import { argumentsIn, UsageError } from '../../arguments.ts';
import { product } from '../../product.ts';
import { CONVERSATIONS } from '../../real-models/conversations.ts';
import type { Outputs } from '../../terminal.ts';
import { EXIT, urlOf } from '../options.ts';
import { withExitCode } from '../program.ts';
import { type Measured, measure, rowsOf, someOf, type Trial, tableOf, VARIANTS, withRows } from './measure.ts';

const PAGE = resolve(import.meta.dirname, '../../../../../docs/prompts.md');
/** Questions at once to a server. */
const AT_ONCE = 8;
/** A small model on a busy machine takes its time. */
const TIMEOUT_MS = 15 * 60_000;

/** The whole program; answers with its exit code. */
export const prompts = (args: readonly string[], outputs: Outputs): Promise<number> =>
  withExitCode({ outputs, command: './scripts/evaluate prompts' }, async () => {
    // biome-ignore lint/style/noProcessEnv: a key on the command line can be read by others
    const options = readPromptOptions(args, process.env.OPENAI_API_KEY ?? null);
    if (options === null) {
      outputs.result(PROMPTS_HELP);
      return EXIT.passed;
    }
    const { server, sentences, json, write } = options;
    const model = rowNameOf(options);
    const trial = {
      conversations: someOf(sentences),
      atOnce: server === null ? 1 : AT_ONCE,
      progress: outputs.progress,
    };
    const measured = await withModel(options, (chat) => measureAll({ ...trial, chat }));
    outputs.progress(null);
    const rows = rowsOf(model, measured);
    if (write) await writeFile(PAGE, withRows(await readFile(PAGE, 'utf8'), { model, rows }));
    outputs.result(json ? `${JSON.stringify({ model, measured }, null, 2)}\n` : tableOf(rows));
    return EXIT.passed;
  });

/** Under another form of answers a model is another one. */
const rowNameOf = ({ model, format }: PromptOptions): string =>
  format === 'json_schema' ? model : `${model}, asked for ${format}`;

async function withModel<T>(
  { server, model, format }: PromptOptions,
  work: (chat: ChatModel) => Promise<T>,
): Promise<T> {
  const at = (place: { readonly baseUrl: string; readonly apiKey: string | null }): ChatModel =>
    openaiChat({
      ...{ ...place, model, timeoutMs: TIMEOUT_MS, log: product.log },
      manners: knownManners({ ...FULL_MANNERS, format }),
    });
  if (server !== null) return work(at(server));
  const small = await startSmolLm();
  const own = await startModelServer({ script: small.script });
  try {
    return await work(at({ baseUrl: own.baseUrl, apiKey: null }));
  } finally {
    await own.close();
    await small.close();
  }
}

async function measureAll(trial: Trial): Promise<readonly Measured[]> {
  const all: Measured[] = [];
  try {
    for (const variant of VARIANTS) all.push(await measure(trial, variant));
  } catch (error) {
    if (error instanceof EngineError) throw new ServerError(error.message);
    throw error;
  }
  return all;
}

interface PromptOptions {
  /** null: the small model that is run here. */
  readonly server: { readonly baseUrl: string; readonly apiKey: string | null } | null;
  readonly model: string;
  readonly sentences: number;
  readonly format: Format;
  readonly json: boolean;
  readonly write: boolean;
}

/** How the form of an answer is asked for, best first. */
const FORMATS = ['json_schema', 'json_object', 'text'] as const;
type Format = (typeof FORMATS)[number];

const PROMPTS_HELP = `Usage: ./scripts/evaluate prompts (--base-url URL --model NAME | --small) [options]

Asks a chat model for the facts of up to 24 sentences, with the product's prompt and with variants of it that have fewer examples, and
counts which facts have only words that were said (grounded), which have only words of the prompt (copied), which have others
(invented), and how many of those that were told are not among them (missed). Three calls a sentence, of up to 1,600 tokens each.

Options:
  --base-url URL      An OpenAI-compatible server, with its /v1. Its key is taken from OPENAI_API_KEY.
  --model NAME        A chat model there.
  --small             In place of both: ${SMOLLM}, downloaded once and run here; takes a quarter of an hour.
  --sentences N       Only so many of the sentences, 1 to ${CONVERSATIONS.length}.
  --format FORMAT     How the form of the answers is asked for: ${FORMATS.join(', ')}. Default: ${FORMATS[0]}.
  --write             Put the result into the table of docs/prompts.md.
  --json              Print each answer as JSON.
  --help, -h          Show this.

Exit code: ${EXIT.passed} done, ${EXIT.usage} invalid usage, ${EXIT.server} the server cannot be reached.
`;

const FLAGS = {
  'base-url': { type: 'string' },
  model: { type: 'string' },
  small: { type: 'boolean' },
  sentences: { type: 'string' },
  format: { type: 'string', default: FORMATS[0] },
  write: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** null when help was asked for. Throws UsageError. */
function readPromptOptions(args: readonly string[], apiKey: string | null): PromptOptions | null {
  const { values } = argumentsIn(args, FLAGS);
  if (values.help === true) return null;
  const { 'base-url': baseUrl, model, small = false, write = false, json = false } = values;
  if (small && (baseUrl !== undefined || model !== undefined)) {
    throw new UsageError('--small brings its own model: leave --base-url and --model out');
  }
  const sentences = Number(values.sentences ?? CONVERSATIONS.length);
  if (!Number.isInteger(sentences) || sentences < 1 || sentences > CONVERSATIONS.length) {
    throw new UsageError(`expected --sentences to be 1 to ${CONVERSATIONS.length}, got ${values.sentences}`);
  }
  const format = FORMATS.find((known) => known === values.format);
  if (format === undefined)
    throw new UsageError(`expected --format to be one of ${FORMATS.join(', ')}, got ${values.format}`);
  const asked = { sentences, format, json, write };
  if (small) return { server: null, model: SMOLLM, ...asked };
  if (baseUrl === undefined || model === undefined) {
    throw new UsageError('expected --base-url and --model, or --small');
  }
  return { server: { baseUrl: urlOf(baseUrl), apiKey }, model, ...asked };
}
