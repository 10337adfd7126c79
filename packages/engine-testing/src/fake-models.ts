import {
  type Cancellation,
  type ChatAnswer,
  type ChatCall,
  type ChatModel,
  type Embedder,
  EngineError,
  type JsonObject,
} from '@slowwave/engine';
import { fnv } from './fixed-tools.ts';

/** What a scripted model says: an object, raw text, half a text, or a failure to throw. */
export type Reply = JsonObject | string | CutOff | Error;

/** The answer to a call of one name; `nth` counts the calls of that name from 1. */
export type Script = (input: JsonObject, nth: number) => Reply;

export interface FakeChat extends ChatModel {
  /** Every call that came, in order, answered or not. */
  readonly calls: readonly ChatCall[];
}

/** An answer that ran out of output. */
export class CutOff {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A chat model that answers from a script: call name → function of the input. */
export function fakeChat(scripts: Readonly<Record<string, Script>>): FakeChat {
  const calls: ChatCall[] = [];
  return {
    name: 'scripted',
    calls,
    ask: async (call, cancel) => {
      calls.push(call);
      refuseCancelled(cancel);
      const nth = calls.filter((earlier) => earlier.name === call.name).length;
      return answerWith(call, replyOf(scripts, call, nth));
    },
  };
}

function refuseCancelled(cancel: Cancellation): void {
  if (!cancel.aborted) return;
  throw new EngineError('the call was cancelled before it began', { code: 'cancelled', retryable: true });
}

function replyOf(scripts: Readonly<Record<string, Script>>, call: ChatCall, nth: number): Reply {
  const script = scripts[call.name];
  if (script !== undefined) return script(inputOf(call), nth);
  const known = Object.keys(scripts).join(', ');
  throw new Error(`expected one of the calls ${known}, got ${call.name}; add a script for it`);
}

/** The JSON object the user message ends with. */
export function inputOf(call: ChatCall): JsonObject {
  const lines = call.user.split('\n');
  for (let i = 0; i < lines.length; i += 1) {
    const input = parsed(lines.slice(i).join('\n'));
    if (input !== null) return input;
  }
  throw new Error(`expected the user message of ${call.name} to end with a JSON object on its own lines`);
}

function parsed(text: string): JsonObject | null {
  if (!text.startsWith('{')) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function answerWith(call: ChatCall, reply: Reply): ChatAnswer {
  if (reply instanceof Error) throw reply;
  const truncated = reply instanceof CutOff;
  const text = truncated ? reply.text : typeof reply === 'string' ? reply : JSON.stringify(reply);
  const usage = { promptTokens: tokensOf(call.system + call.user), completionTokens: tokensOf(text) };
  return { text, model: 'scripted', usage, truncated };
}

/** The usual rule of thumb for English. */
const CHARACTERS_PER_TOKEN = 4;
const tokensOf = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN);

export interface FakeEmbedder extends Embedder {
  /** The texts of every call, in order. */
  readonly calls: readonly (readonly string[])[];
}

/** Words hashed into buckets: texts that share words are near each other, and always in the same way. `refuses`: for good. */
export function fakeEmbedder(dimensions = 256, refuses: (text: string) => boolean = () => false): FakeEmbedder {
  const calls: (readonly string[])[] = [];
  return {
    fingerprint: `fake-${dimensions}`,
    dimensions,
    calls,
    embed: async (texts, cancel) => {
      calls.push(texts);
      refuseCancelled(cancel);
      const promptTokens = texts.reduce((sum, text) => sum + tokensOf(text), 0);
      const vectors = texts.map((text) => (refuses(text) ? null : embed(text, dimensions)));
      return { vectors, usage: { promptTokens, completionTokens: 0 } };
    },
  };
}

function embed(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const word of wordsOf(text)) {
    const bucket = fnv(word, 0x811c9dc5) % dimensions;
    vector[bucket] = (vector[bucket] ?? 0) + 1;
  }
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  // A text without words points somewhere too: unit length is promised for every text.
  if (length === 0) vector[0] = 1;
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** Words in lower case; Chinese characters count as words of their own. */
const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .match(/\p{sc=Han}|[\p{L}\p{N}]+/gu) ?? [];
