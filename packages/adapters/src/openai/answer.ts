import { type ChatAnswer, EngineError, estimateTokens, type TokenUse } from '@slowwave/engine';
import type { Place } from './client.ts';
import { unreadable } from './failure.ts';
import { type Message, type Said, saidIn, type ThoughtPlace } from './message.ts';

/** A chat completion as far as servers agree on it: any field may be missing. */
interface Completion {
  readonly model?: string | null;
  readonly choices?: readonly Choice[] | null;
  readonly usage?: Usage | null;
}

interface Usage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number } | null;
  /** DeepSeek's name for the same. */
  readonly prompt_cache_hit_tokens?: number;
}

interface Choice {
  readonly finish_reason?: string | null;
  readonly message?: Message | null;
}

/** Why an answer has ended that was cut off because it said the same over and over. */
export const LOOP = 'loop';

const brokeOff = ({ finish_reason: reason }: Choice): boolean => reason === 'length' || reason === LOOP;

/** Whether a server has said how many tokens an answer took. */
export const isCounted = (body: object): boolean => typeof (body as Completion).usage?.completion_tokens === 'number';

/** An answer as it is read. */
export interface Read {
  readonly answer: ChatAnswer;
  readonly thoughts: ThoughtPlace | null;
}

/** Reads an answer; `prompt` is what was asked, for servers that do not count tokens. */
export function readChatAnswer(body: object, prompt: string, place: Place): Read {
  const { choices, model, usage } = body as Completion;
  const choice = choices?.[0];
  if (choice?.message === undefined || choice.message === null) throw unreadable('a body without an answer', place);
  refuseRefusals(choice, place);
  const said = saidIn(choice.message);
  const written = said.content + said.called + said.thoughts; // thoughts are paid for as well
  return {
    answer: {
      text: textOf(choice, said),
      model: model ?? place.model,
      usage: {
        promptTokens: usage?.prompt_tokens ?? estimateTokens(prompt),
        completionTokens: usage?.completion_tokens ?? estimateTokens(written),
        ...cachedIn(usage),
      },
      truncated: brokeOff(choice),
    },
    thoughts: said.place,
  };
}

function cachedIn(usage: Usage | null | undefined): Pick<TokenUse, 'cachedTokens'> {
  const cachedTokens = usage?.prompt_tokens_details?.cached_tokens ?? usage?.prompt_cache_hit_tokens ?? 0;
  return cachedTokens > 0 ? { cachedTokens } : {};
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
  return new EngineError(message, { code: 'model_rejected', retryable, read: true });
}

/** What the model wrote: where there is no content, the arguments of its tool calls, or JSON among its thoughts. */
function textOf(choice: Choice, { content, called, thoughts }: Said): string {
  if (content.trim() !== '') return content;
  if (called !== '') return called;
  if (choice.finish_reason === LOOP) return `<think>${thoughts}`;
  // What was cut off while it thought had not begun to answer.
  return !brokeOff(choice) && thoughts.includes('{') ? thoughts : content;
}
