import {
  type Cancellation,
  type ChatAnswer,
  type ChatCall,
  type ChatModel,
  EngineError,
  estimateTokens,
} from '@slowwave/engine';
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsNonStreaming,
} from 'openai/resources/chat/completions';
import { connect, exchange, type OpenaiOptions, type Place } from './client.ts';
import {
  type Complaint,
  complainsAbout,
  isFailedAnswer,
  isUnexplained,
  rejection,
  unquoted,
  unreadable,
} from './failure.ts';

/** A chat model behind any OpenAI-compatible API. */
export function openaiChat(options: OpenaiOptions): ChatModel {
  const { client, place } = connect(options);
  // Learnt from refusals, kept for the life of the process: a server is asked once for what it does not take.
  let manners = FULL_MANNERS;
  // What it refuses after an answer, it refuses for another reason than the form that is asked for.
  let hasAnswered = false;

  const sent = async (call: ChatCall, tried: Manners, cancel: Cancellation): Promise<ChatAnswer | Complaint> => {
    const request = chatRequest(options.model, call, tried);
    const outcome = await exchange({ place, cancel }, (signal) => client.chat.completions.create(request, { signal }));
    if ('complaint' in outcome) return outcome.complaint;
    const answer = readChatAnswer(outcome.body, promptOf(call), place);
    hasAnswered = true;
    return logged(options, call, answer);
  };
  // null: nothing less would do.
  const lesserThan = (tried: Manners, complaint: Complaint): Manners | null => {
    const lesser = withoutRefused(tried, complaint);
    if (lesser !== null) manners = combine(manners, lesser);
    if (lesser !== null || hasAnswered || tried !== manners || !isUnexplained(complaint)) return lesser;
    return withLesserFormat(tried);
  };

  const ask: ChatModel['ask'] = async (call, cancel) => {
    let tried = manners;
    for (;;) {
      const said = await sent(call, tried, cancel);
      if (!('status' in said)) {
        manners = combine(manners, tried);
        return said;
      }
      const lesser = lesserThan(tried, said);
      if (lesser === null) throw rejection(said, place, [call.user]);
      warn(options, { tried, lesser, complaint: unquoted(said, [call.user]) });
      tried = combine(manners, lesser);
    }
  };
  return { name: options.model, ask };
}

const promptOf = ({ system, user }: ChatCall): string => system + user;

function logged({ log }: OpenaiOptions, call: ChatCall, answer: ChatAnswer): ChatAnswer {
  const { model, usage, truncated } = answer;
  log.debug({ call: call.name, model, usage, truncated }, 'the chat model answered');
  const { promptTokens } = usage;
  const expected = estimateTokens(promptOf(call));
  if (promptTokens > 0 && promptTokens < expected * CUT_SHARE && expected - promptTokens > CUT_MIN) {
    log.warn(
      { call: call.name, model, promptTokens, expected },
      'the chat model read much less than it was sent; its server may cut prompts without saying so: give it a larger context window (Ollama: num_ctx), or lower SLOWWAVE_PART_TOKENS',
    );
  }
  return answer;
}

/** Estimates of tokens are wrong by a third, seldom by half. */
const CUT_SHARE = 0.5;
/** So many tokens may have been counted apart, because they were cached. */
const CUT_MIN = 500;

function warn({ log, model }: OpenaiOptions, step: { tried: Manners; lesser: Manners; complaint: Complaint }): void {
  const { tried, lesser, complaint } = step;
  log.warn(
    { model, tried, now: lesser, reason: complaint.text },
    'the chat model rejects a setting; continuing without it',
  );
}

/** How an answer's form is asked for, best first. */
const FORMATS = ['json_schema', 'json_object', 'text'] as const;

/** What a server is known to take. It starts with everything and only ever shrinks. */
interface Manners {
  readonly format: (typeof FORMATS)[number];
  readonly temperature: boolean;
  /** false: instructions go into the user's message, as templates without a system role want it. */
  readonly system: boolean;
}

export const FULL_MANNERS: Manners = { format: 'json_schema', temperature: true, system: true };

const ABOUT_FORMAT =
  /response.?format|json.?schema|json.?object|json.?mode|structured.?output|guided|grammar|output_config|response.?schema|mime.?type|additional.?properties|proto field is not/iu;
const ABOUT_TEMPERATURE = /temperature/iu;
const ABOUT_SYSTEM = /system.{0,12}role.{0,20}not supported|only user and assistant roles|roles must alternate/iu;

/** The same manners without what the server complains about; null when that is something else. */
function withoutRefused(manners: Manners, complaint: Complaint): Manners | null {
  if (manners.temperature && complainsAbout(complaint, ABOUT_TEMPERATURE)) return { ...manners, temperature: false };
  if (manners.system && complainsAbout(complaint, ABOUT_SYSTEM)) return { ...manners, system: false };
  return complainsAbout(complaint, ABOUT_FORMAT) && !isFailedAnswer(complaint) ? withLesserFormat(manners) : null;
}

function withLesserFormat(manners: Manners, by = 1): Manners | null {
  const format = FORMATS[FORMATS.indexOf(manners.format) + by];
  return format === undefined ? null : { ...manners, format };
}

/** The least of both: what two calls learnt at the same time. */
function combine(a: Manners, b: Manners): Manners {
  const format = FORMATS.indexOf(a.format) > FORMATS.indexOf(b.format) ? a.format : b.format;
  return { format, temperature: a.temperature && b.temperature, system: a.system && b.system };
}

/** The request for a call, in the manners of its server. A question that is asked again is asked in another way. */
export function chatRequest(model: string, call: ChatCall, manners: Manners): ChatCompletionCreateParamsNonStreaming {
  const { again = 0 } = call;
  const asked = again > 1 ? (withLesserFormat(manners) ?? manners) : manners;
  const system = (asked.format === 'json_schema' ? call.system : withSchema(call)).toWellFormed();
  return {
    model,
    messages: asked.system
      ? [
          { role: 'system', content: system },
          { role: 'user', content: userContent(call) },
        ]
      : [{ role: 'user', content: userContent({ ...call, user: `${system}\n\n${call.user}` }) }],
    ...(asked.temperature ? { temperature: TEMPERATURES[again] ?? 1 } : {}),
    ...formatOf(call, asked),
  };
}

/** Of a first question, and of each that repeats it: at 0 a model makes the same mistake again. */
const TEMPERATURES = [0, 0.2, 0.5, 0.8];

function userContent({ user, images = [] }: Pick<ChatCall, 'user' | 'images'>): string | ChatCompletionContentPart[] {
  const text = user.toWellFormed();
  if (images.length === 0) return text;
  // The text comes last: it ends with the input, by which a call is understood.
  return [...images.map((url) => ({ type: 'image_url' as const, image_url: { url } })), { type: 'text', text }];
}

function formatOf(call: ChatCall, { format }: Manners): Partial<ChatCompletionCreateParamsNonStreaming> {
  if (format === 'text') return {};
  if (format === 'json_object') return { response_format: { type: 'json_object' } };
  const { name, schema } = call;
  return { response_format: { type: 'json_schema', json_schema: { name, strict: true, schema } } };
}

/** Without a schema in the request, the prompt has to carry it. Its first word is the call's name, by which it is known. */
function withSchema({ name, system, schema }: ChatCall): string {
  const rest = system.split(/\s/u, 1)[0] === name ? system.slice(name.length).trimStart() : system;
  const form = `Answer with one JSON object and nothing else. Its JSON schema: ${JSON.stringify(schema)}`;
  return `${name}\n${form}\n\n${rest}`;
}

/** A chat completion as far as servers agree on it: any field may be missing. */
interface Completion {
  readonly model?: string | null;
  readonly choices?: readonly Choice[] | null;
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number } | null;
}

interface Choice {
  readonly finish_reason?: string | null;
  readonly message?: {
    readonly content?: string | readonly { readonly text?: string }[] | null;
    readonly refusal?: string | null;
    /** Where servers put what they take for thinking, and, with a parser that fits the model badly, all of an answer. */
    readonly reasoning_content?: string | null;
    readonly reasoning?: string | null;
    readonly tool_calls?: readonly { readonly function?: { readonly arguments?: unknown } | null }[] | null;
  } | null;
}

/** Reads an answer; `prompt` is what was asked, for servers that do not count tokens. */
function readChatAnswer(body: object, prompt: string, place: Place): ChatAnswer {
  const { choices, model, usage } = body as Completion;
  const choice = choices?.[0];
  if (choice?.message === undefined || choice.message === null) throw unreadable('a body without an answer', place);
  refuseRefusals(choice, place);
  const text = textOf(choice);
  return {
    text,
    model: model ?? place.model,
    usage: {
      promptTokens: usage?.prompt_tokens ?? estimateTokens(prompt),
      completionTokens: usage?.completion_tokens ?? estimateTokens(text),
    },
    truncated: choice.finish_reason === 'length',
  };
}

function refuseRefusals({ finish_reason: reason, message }: Choice, place: Place): void {
  if (typeof message?.refusal === 'string' && message.refusal !== '') {
    throw rejected(place, { got: 'a refusal', retryable: false });
  }
  if (reason === 'content_filter') throw rejected(place, { got: 'a stop by its content filter', retryable: false });
  if (reason === 'error') throw rejected(place, { got: 'an answer that ended in an error', retryable: true });
}

function rejected(place: Place, { got, retryable }: { got: string; retryable: boolean }): EngineError {
  const advice = retryable ? 'it will be retried' : 'retrying would not help; check what these messages are about';
  const message = `expected an answer from ${place.baseUrl} (model ${place.model}), got ${got}; ${advice}`;
  return new EngineError(message, { code: 'model_rejected', retryable });
}

/** What the model wrote: where there is no content, the arguments of its tool calls, or JSON among its thoughts. */
function textOf({ message, finish_reason: reason }: Choice): string {
  const content = message?.content ?? '';
  const text = typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('');
  if (text.trim() !== '') return text;
  const calls = (message?.tool_calls ?? []).flatMap((call) => call.function?.arguments ?? []);
  const called = calls.map((given) => (typeof given === 'string' ? given : JSON.stringify(given))).join('\n');
  if (called !== '') return called;
  const thoughts = message?.reasoning_content ?? message?.reasoning ?? '';
  // What was cut off while it thought had not begun to answer.
  return reason !== 'length' && typeof thoughts === 'string' && thoughts.includes('{') ? thoughts : text;
}
