import {
  type ChatAnswer,
  type ChatCall,
  type ChatModel,
  EngineError,
  estimateTokens,
  type Log,
} from '@slowwave/engine';
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsNonStreaming,
} from 'openai/resources/chat/completions';
import { connect, exchange, type OpenaiOptions, type Place } from './client.ts';
import { type Complaint, complainsAbout, rejection, unquoted, unreadable } from './failure.ts';

/** A chat model behind any OpenAI-compatible API. */
export function openaiChat(options: OpenaiOptions): ChatModel {
  const { client, place } = connect(options);
  // Learnt from refusals, kept for the life of the process: a server is asked once for what it does not take.
  let manners = FULL_MANNERS;

  const ask: ChatModel['ask'] = async (call, cancel) => {
    for (;;) {
      const tried = manners;
      const request = chatRequest(options.model, call, tried);
      const outcome = await exchange({ place, cancel }, (signal) =>
        client.chat.completions.create(request, { signal }),
      );
      if ('body' in outcome)
        return logged(options.log, call, readChatAnswer(outcome.body, call.system + call.user, place));
      const lesser = withoutRefused(tried, outcome.complaint);
      if (lesser === null) throw rejection(outcome.complaint, place, [call.user]);
      manners = combine(manners, lesser);
      warn(options, { tried, lesser, complaint: unquoted(outcome.complaint, [call.user]) });
    }
  };
  return { name: options.model, ask };
}

function logged(log: Log, { name }: ChatCall, answer: ChatAnswer): ChatAnswer {
  const { model, usage, truncated } = answer;
  log.debug({ call: name, model, usage, truncated }, 'the chat model answered');
  return answer;
}

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
}

export const FULL_MANNERS: Manners = { format: 'json_schema', temperature: true };

const ABOUT_FORMAT =
  /response.?format|json.?schema|json.?object|json.?mode|structured.?output|guided|grammar|output_config/iu;
const ABOUT_TEMPERATURE = /temperature/iu;

/** The same manners without what the server complains about; null when that is something else. */
function withoutRefused(manners: Manners, complaint: Complaint): Manners | null {
  if (manners.temperature && complainsAbout(complaint, ABOUT_TEMPERATURE)) return { ...manners, temperature: false };
  const lesser = FORMATS[FORMATS.indexOf(manners.format) + 1];
  if (lesser !== undefined && complainsAbout(complaint, ABOUT_FORMAT)) return { ...manners, format: lesser };
  return null;
}

/** The least of both: what two calls learnt at the same time. */
function combine(a: Manners, b: Manners): Manners {
  const format = FORMATS.indexOf(a.format) > FORMATS.indexOf(b.format) ? a.format : b.format;
  return { format, temperature: a.temperature && b.temperature };
}

/** The request for a call, in the manners of its server. */
export function chatRequest(model: string, call: ChatCall, manners: Manners): ChatCompletionCreateParamsNonStreaming {
  const system = manners.format === 'json_schema' ? call.system : withSchema(call);
  return {
    model,
    messages: [
      { role: 'system', content: system.toWellFormed() },
      { role: 'user', content: userContent(call) },
    ],
    ...(manners.temperature ? { temperature: 0 } : {}),
    ...formatOf(call, manners),
  };
}

function userContent({ user, images = [] }: ChatCall): string | ChatCompletionContentPart[] {
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

function textOf({ message }: Choice): string {
  const content = message?.content ?? '';
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('');
}
