import { SMOLLM } from '@slowwave/testkit';
import { argumentsIn, UsageError } from '../../arguments.ts';
import { CONVERSATIONS } from '../../real-models/conversations.ts';
import { EXIT, urlOf } from '../options.ts';

export interface PromptOptions {
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

export const PROMPTS_HELP = `Usage: ./scripts/evaluate prompts (--base-url URL --model NAME | --small) [options]

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
export function readPromptOptions(args: readonly string[], apiKey: string | null): PromptOptions | null {
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
