import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ChatAnswer,
  EngineError,
  estimateTokens,
  REPEATED_SHOWS_IN,
  repeatedAtEnd,
  type TokenUse,
} from '@slowwave/engine';
import type OpenAI from 'openai';
import { Stream } from 'openai/streaming';
import { ANSWER_BYTES_MAX, isStream, tooLong } from '../system/patient-fetch.ts';
import type { Place } from './client.ts';
import { complaintIn, stalled, unreadable } from './failure.ts';
import { callsIn, type Message, type Said, saidIn, TEXTS, type ThoughtPlace, textIn } from './message.ts';

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
const LOOP = 'loop';

/** Whether a server has said how many tokens an answer took. */
export const isCounted = (body: object): boolean => typeof (body as Completion).usage?.completion_tokens === 'number';

/** An answer as it is read. */
interface Read {
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

const brokeOff = ({ finish_reason: reason }: Choice): boolean => reason === 'length' || reason === LOOP;

/** An event as far as servers agree on it: any field may be missing. */
interface Chunk {
  readonly model?: string | null;
  readonly choices?: readonly StreamedChoice[] | null;
  readonly usage?: object | null;
}

interface StreamedChoice {
  readonly finish_reason?: string | null;
  readonly delta?: Message | null;
  /** Where a server says all of it at once. */
  readonly message?: Message | null;
}

/** How soon after its last event a stream is at its end. */
const REST_MS = 200;

/** How soon after its end an answer is counted. Some servers hold the connection open for ever. */
const COUNTED_MS = 2_000;

/**
 * An answer that is sent while it is written, as the body of one that is sent in one piece. A server may send that instead:
 * it is read as ever. What a server says instead of going on is the body, too. A model that has begun to write and does not go on
 * is given up; before that it may be reading, for as long as it has time. One that says the same over and over is cut off.
 */
export async function streamedAnswer(
  { client, place, idleTimeoutMs }: Streaming,
  { request, prompt, written }: Asking,
  signal: AbortSignal,
): Promise<unknown> {
  const hangUp = new AbortController();
  const either = AbortSignal.any([signal, hangUp.signal]);
  const asked = client.post('/chat/completions', { body: { ...request, stream: true }, signal: either });
  const response = await asked.asResponse();
  if (!isStream(response.headers) || response.body === null) return asked;
  const unread = new Unread();
  const events = Stream.fromSSEResponse<unknown>(unread.of(response.body, hangUp), hangUp, client);
  const loops = new Loops(prompt);
  let next: NodeJS.Timeout | undefined;
  const giveUp = (): void => hangUp.abort(stalled(place, { idleTimeoutMs, written: written.tokens() }));
  // Some servers say with each word that it was the last one.
  const waitForMore = (added: string): void => {
    clearTimeout(next);
    const ms = written.isFinished && added === '' ? Math.min(COUNTED_MS, idleTimeoutMs) : idleTimeoutMs;
    if (written.hasBegun) next = setTimeout(giveUp, ms);
  };
  try {
    for await (const event of events) {
      unread.reset();
      if (typeof event !== 'object' || event === null) continue;
      if (complaintIn(event) !== null) return event;
      const added = written.add(event);
      if (loops.close(added)) return written.body(LOOP);
      waitForMore(added);
    }
    // The library takes whoever hangs up for the end of the answer.
    if (!written.isFinished) either.throwIfAborted();
    return written.body();
  } finally {
    clearTimeout(next);
  }
}

/** Where answers are streamed from. */
interface Streaming {
  readonly client: OpenAI;
  readonly place: Place;
  /** Within this time a model that has begun to write goes on. */
  readonly idleTimeoutMs: number;
}

interface Asking {
  readonly request: object;
  /** What a model may quote. */
  readonly prompt: string;
  /** What has come of the answer, however it ends. */
  readonly written: Written;
}

/** What has come since the last event: who sends no events, or one without an end, is cut off like who answers without an end. */
class Unread {
  #bytes = 0;

  reset(): void {
    this.#bytes = 0;
  }

  /** A body of which the library reads the events. After the last one it lets go of it, in which the connection is lost unless all is read. */
  of(body: ReadableStream<Uint8Array>, { signal }: AbortController): Response {
    const bytes = body.getReader();
    const events = new ReadableStream<Uint8Array>(
      {
        pull: async (events) => {
          const { done, value } = await bytes.read();
          if (done) return events.close();
          this.#bytes += value.byteLength;
          if (this.#bytes > ANSWER_BYTES_MAX) throw tooLong(ANSWER_BYTES_MAX);
          events.enqueue(value);
        },
        cancel: async (reason) => {
          const rest = signal.aborted ? null : await Promise.race([bytes.read(), sleep(REST_MS)]);
          if (rest?.done !== true) await bytes.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(events);
  }
}

/** How often the end of an answer is looked at: each time that so many characters have come. */
const LOOK_EVERY = 256;

/** Sees when what is written says the same over and over. Who was asked about such a text may quote it. */
class Loops {
  #end = '';
  #fresh = 0;
  readonly #prompt: string;

  constructor(prompt: string) {
    this.#prompt = prompt;
  }

  close(added: string): boolean {
    this.#end += added;
    this.#fresh += added.length;
    if (this.#fresh < LOOK_EVERY) return false;
    this.#fresh = 0;
    this.#end = this.#end.slice(-REPEATED_SHOWS_IN);
    const loop = repeatedAtEnd(this.#end);
    return loop !== null && !this.#prompt.includes(loop);
  }
}

/** What a model has written so far. */
export class Written {
  #bytes = 0;
  #isAnswer = false;
  #model: string | null = null;
  #finish: string | null = null;
  #usage: object | null = null;
  readonly #texts: { [name in (typeof TEXTS)[number]]?: string } = {};
  /** The arguments of each tool call. */
  readonly #calls = new Map<number, string>();
  readonly #begun: () => void;

  /** `begun`: its first words have come. */
  constructor(begun: () => void = () => {}) {
    this.#begun = begun;
  }

  /** Some servers greet before a model has written a word. */
  get hasBegun(): boolean {
    return this.#bytes > 0 || this.isFinished;
  }

  /** Why it has ended is known. */
  get isFinished(): boolean {
    return this.#finish !== null;
  }

  /** What is new. */
  add({ model, choices, usage }: Chunk): string {
    this.#model = model ?? this.#model;
    this.#usage = usage ?? this.#usage;
    const choice = choices?.[0];
    if (choice === undefined) return '';
    this.#isAnswer = true;
    this.#finish = choice.finish_reason || this.#finish;
    const delta = choice.delta ?? choice.message ?? {};
    const added = [...TEXTS.map((name) => this.#addText(name, delta)), ...this.#addCalls(delta)].join('');
    if (this.#bytes === 0 && added !== '') this.#begun();
    this.#bytes += Buffer.byteLength(added);
    if (this.#bytes > ANSWER_BYTES_MAX) throw tooLong(ANSWER_BYTES_MAX);
    return added;
  }

  #addText(name: (typeof TEXTS)[number], delta: Message): string {
    const text = textIn(delta[name]);
    if (text !== '') this.#texts[name] = (this.#texts[name] ?? '') + text;
    return text;
  }

  #addCalls({ tool_calls: calls }: Message): readonly string[] {
    return callsIn(calls).map(({ index, text }) => {
      this.#calls.set(index, (this.#calls.get(index) ?? '') + text);
      return text;
    });
  }

  /** About how many tokens. */
  tokens(): number {
    return estimateTokens([...Object.values(this.#texts), ...this.#calls.values()].join(''));
  }

  /** A stream that ends before the answer has said that it ends has broken off. */
  body(finish = this.#finish ?? 'length'): object {
    const calls = [...this.#calls.values()].map((text) => ({ function: { arguments: text } }));
    const message = { ...this.#texts, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
    return {
      model: this.#model,
      choices: this.#isAnswer ? [{ message, finish_reason: finish }] : [],
      ...(this.#usage === null ? {} : { usage: this.#usage }),
    };
  }
}
