import {
  type Cancellation,
  type ChatAnswer,
  type ChatCall,
  type ChatModel,
  promptTokens,
  repeatedAtEnd,
} from '@slowwave/engine';
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParams,
  ChatCompletionCreateParamsStreaming,
} from 'openai/resources/chat/completions';
import { ROOM_ADVICE } from '../conventions.ts';
import { o200kTokenizer } from '../tokens.ts';
import { isCounted, readChatAnswer, streamedAnswer, Written } from './answer.ts';
import { connect, exchange, fetchWithPlainErrors, type OpenaiOptions } from './client.ts';
import { type Complaint, inStream, isTooLong, isUnexplained, isUnreadable, rejection, unquoted } from './failure.ts';
import {
  combine,
  type KnownManners,
  knownManners,
  type Manners,
  unstreamed,
  withLess,
  withLesserFormat,
  withoutRefused,
} from './manners.ts';
import type { ThoughtPlace } from './message.ts';

export interface ChatOptions extends OpenaiOptions {
  /** What the server is known to take. Missing: to be found out, once for the life of the process. */
  readonly manners?: KnownManners;
  /** Told of what an answer does not say. */
  readonly watch?: Watch;
}

interface Watch {
  /** The first words of an answer have come. Only where it is streamed. */
  readonly begun?: () => void;
  /** The model has thought before it answered, and here its thoughts stand. */
  readonly thought?: (place: ThoughtPlace) => void;
  /** Its server seems to have read only a part of the prompt. */
  readonly cut?: (cut: Cut) => void;
}

/** In tokens. */
export interface Cut {
  readonly sent: number;
  readonly read: number;
}

/** Of a stream: as the longest answer of a model, 128,000 tokens, with some four hundred bytes around each. */
const STREAM_BYTES_MAX = 64 * 1024 * 1024;

/** A chat model behind any OpenAI-compatible API. */
export function openaiChat(options: ChatOptions): ChatModel {
  const { client, place } = connect(options);
  const streaming = {
    client: client.withOptions({ fetch: fetchWithPlainErrors({ streamBytesMax: STREAM_BYTES_MAX }) }),
    place,
    idleTimeoutMs: options.idleTimeoutMs ?? options.timeoutMs,
  };
  const { stream: wanted = 'off', api, manners: known = knownManners(), watch = {} } = options;
  // The events of Anthropic's API are others.
  const manners = wanted === 'off' || api === 'anthropic' ? unstreamed(known) : known;
  // What it refuses after an answer, it refuses for another reason than the form that is asked for.
  let hasAnswered = false;

  const answered = async (call: ChatCall, asked: Asked, cancel: Cancellation): Promise<ChatAnswer | Complaint> => {
    const request = { ...chatRequest(options.model, call, asked), ...options.extraBody };
    const written = new Written(watch.begun);
    const outcome = await exchange({ place, cancel, written: () => written.tokens() }, (signal) =>
      request.stream === true
        ? streamedAnswer(streaming, { request, prompt: promptOf(call), written }, signal)
        : client.chat.completions.create(request, { signal }),
    );
    if ('complaint' in outcome) return outcome.complaint;
    const { answer, thoughts } = readChatAnswer(outcome.body, promptOf(call), place);
    hasAnswered = true;
    if (thoughts !== null) watch.thought?.(thoughts);
    // What cannot be counted cannot be paid for, and nobody sees that a prompt was cut.
    if (wanted === 'auto' && !answer.truncated && !isCounted(outcome.body))
      manners.learn({ ...asked.manners, stream: 'none' });
    return logged(options, call, answer);
  };

  // Who has answered nothing yet and sends a stream that cannot be read may do better without.
  const sent: typeof answered = (call, asked, cancel) =>
    answered(call, asked, cancel).catch((error: unknown) => {
      if (hasAnswered || asked.manners.stream === 'none' || !isUnreadable(error)) throw error;
      return inStream(error);
    });

  // null: nothing less would do. A first question may be refused for its form without a word about it.
  const lesserThan = ({ manners: tried, limit }: Asked, said: Complaint, first: Manners): Manners | null => {
    const lesser = withoutRefused(tried, said, limit);
    if (lesser !== null) manners.learn(lesser);
    if (lesser !== null || hasAnswered || tried.format !== first.format || !isUnexplained(said)) return lesser;
    return withLess(tried);
  };

  const ask: ChatModel['ask'] = async (call, cancel) => {
    const first = manners.now();
    let tried = first;
    let isLimited = true;
    for (;;) {
      const asked = { manners: tried, limit: isLimited ? outputLimit(options, call, tried) : null };
      const said = await sent(call, asked, cancel);
      if (!('status' in said)) {
        manners.learn(tried);
        return said;
      }
      const lesser = lesserThan(asked, said, first);
      // Some servers add the limit to the prompt: without it there may be room.
      if (lesser === null && asked.limit !== null && isTooLong(said)) {
        isLimited = false;
        continue;
      }
      if (lesser === null) throw rejection(said, place, [call.user]);
      warn(options, { tried, lesser, complaint: unquoted(said, [call.user]) });
      tried = combine(manners.now(), lesser);
    }
  };
  return { name: options.model, ask };
}

/** An answer is longer than its question only where a model is in a loop, or thinks. */
const OUTPUT_PER_INPUT = 4;
const OUTPUT_LEAST = 1_000;
/** What most models can write at once. */
const OUTPUT_MOST = 32_000;

/** How many tokens an answer may have. null: no limit is sent, as there is none, or an operator sends one of their own. */
export function outputLimit(
  { maxOutputTokens, extraBody = {} }: ChatOptions,
  call: ChatCall,
  known: Manners,
): number | null {
  if (known.limit === 'none' || 'max_completion_tokens' in extraBody || 'max_tokens' in extraBody) return null;
  const { answerMost } = call;
  const usual = Math.min(OUTPUT_PER_INPUT * promptTokens(call) + OUTPUT_LEAST, OUTPUT_MOST);
  const wanted = maxOutputTokens === undefined ? usual : maxOutputTokens;
  if (wanted === null) return answerMost ?? null;
  return Math.min(wanted, known.outputMax ?? wanted, answerMost ?? wanted);
}

const promptOf = ({ system, user }: ChatCall): string => system + user;

function logged({ log, watch = {} }: ChatOptions, call: ChatCall, answer: ChatAnswer): ChatAnswer {
  const { model, usage, truncated } = answer;
  log.debug({ call: call.name, model, usage, truncated }, 'the chat model answered');
  if (truncated && repeatedAtEnd(answer.text) !== null) {
    log.warn({ call: call.name, model, usage }, 'the chat model repeats itself endlessly; its answer was cut off');
  }
  const cut = cutIn(call, answer);
  if (cut !== null) {
    log.warn({ call: call.name, model, ...cut }, `the chat model ${CUT_ADVICE}`);
    watch.cut?.(cut);
  }
  return answer;
}

const CUT_ADVICE = `read far fewer tokens than it was sent, so its server may silently truncate prompts; ${ROOM_ADVICE}`;

/**
 * How many tokens were sent, and how many the server says it has read, where these are far fewer. Estimates are too high by
 * half for some scripts, so what looks cut is counted.
 */
function cutIn(call: ChatCall, { usage }: ChatAnswer): Cut | null {
  const read = usage.promptTokens;
  const isCut = (sent: number): boolean => read > 0 && read < sent * CUT_SHARE && sent - read > CUT_MIN;
  if (!isCut(promptTokens(call))) return null;
  const sent = o200kTokenizer.count(promptOf(call));
  return isCut(sent) ? { sent, read } : null;
}

/** Tokenizers differ by a third, seldom by more. */
const CUT_SHARE = 0.6;
/** So many tokens may have been counted apart, because they were cached. */
const CUT_MIN = 500;

function warn({ log, model }: OpenaiOptions, step: { tried: Manners; lesser: Manners; complaint: Complaint }): void {
  const { tried, lesser, complaint } = step;
  log.warn(
    { model, tried, now: lesser, reason: complaint.text },
    'the chat model rejects a setting; continuing without it',
  );
}

/** The request for a call, in the manners of its server. A question that is asked again is asked in another way. */
export function chatRequest(model: string, call: ChatCall, { manners, limit }: Asked): ChatCompletionCreateParams {
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
    ...(limit === null || asked.limit === 'none' ? {} : { [asked.limit]: limit }),
    ...formatOf(call, asked),
    ...streamOf(asked),
  };
}

/** How a call is asked. */
interface Asked {
  readonly manners: Manners;
  /** Of the answer, in tokens. null: none. */
  readonly limit: number | null;
}

/** Of a first question, and of each that repeats it: at 0 a model makes the same mistake again. */
const TEMPERATURES = [0, 0.2, 0.5, 0.8];

function userContent({ user, images = [] }: Pick<ChatCall, 'user' | 'images'>): string | ChatCompletionContentPart[] {
  const text = user.toWellFormed();
  if (images.length === 0) return text;
  // The text comes last: it ends with the input, by which a call is understood.
  return [...images.map((url) => ({ type: 'image_url' as const, image_url: { url } })), { type: 'text', text }];
}

function formatOf(call: ChatCall, { format }: Manners): Pick<ChatCompletionCreateParams, 'response_format'> {
  if (format === 'text') return {};
  if (format === 'json_object') return { response_format: { type: 'json_object' } };
  const { name, schema } = call;
  return { response_format: { type: 'json_schema', json_schema: { name, strict: true, schema } } };
}

function streamOf({
  stream,
}: Manners): Partial<Pick<ChatCompletionCreateParamsStreaming, 'stream' | 'stream_options'>> {
  if (stream === 'none') return {};
  return stream === 'plain' ? { stream: true } : { stream: true, stream_options: { include_usage: true } };
}

/** Without a schema in the request, the prompt has to carry it. Its first word is the call's name, by which it is known. */
function withSchema({ name, system, schema }: ChatCall): string {
  const rest = system.split(/\s/u, 1)[0] === name ? system.slice(name.length).trimStart() : system;
  const form = `Answer with one JSON object and nothing else. Its JSON schema: ${JSON.stringify(schema)}`;
  return `${name}\n${form}\n\n${rest}`;
}
