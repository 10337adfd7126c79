import type { JsonObject } from '@slowwave/engine';

/** One question to the scripted model, as its script sees it. */
export interface ScriptedCall {
  /** The answer schema's name; without a schema the first word of the system prompt. */
  readonly name: string;
  /** The JSON object at the end of the last user message; null when there is none. */
  readonly input: JsonObject | null;
  readonly system: string;
  /** The whole request body. */
  readonly request: JsonObject;
  /** 1 for the first call of this name. */
  readonly count: number;
}

/** What the scripted model does with one call. */
export type Reply =
  /** An answer: this value as JSON, said to have so many tokens; as many as its text by default. */
  | { readonly json: unknown; readonly tokens?: number }
  /** An answer in any form. */
  | { readonly text: string; readonly finish?: string }
  | Raw;

/** Anything else that can come over a connection. */
export type Raw =
  | HttpReply
  | EventReply
  /** Silence: from the start, or after the headers. */
  | { readonly timeout: true | 'midway' }
  /** The connection breaks: before the answer, or in the middle of it. */
  | { readonly drop: true | 'midway' };

export interface HttpReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string goes out as it is, anything else as JSON. */
  readonly body?: unknown;
}

/** Server-sent events, one after the other as they come. */
export interface EventReply {
  /** A string, or bytes, go out as they are, anything else as the data of an event. */
  readonly events: Iterable<unknown> | AsyncIterable<unknown>;
  /** How it ends. done: as OpenAI says so; bare: without a word; silent: not at all; drop: the connection breaks. */
  readonly end?: 'done' | 'bare' | 'silent' | 'drop';
}

export type Script = (call: ScriptedCall) => Reply | Promise<Reply>;

/** One question to the scripted embedder. */
export interface EmbeddingCall {
  readonly texts: readonly string[];
  readonly request: JsonObject;
  /** 1 for the first call. */
  readonly count: number;
}

/** One question to the scripted reranker. */
export interface RerankCall {
  readonly query: string;
  readonly documents: readonly string[];
  readonly request: JsonObject;
  readonly apiKey: string | null;
  /** 1 for the first call. */
  readonly count: number;
}

/** null lets the reranker score documents by the words they share with the query. */
export type RerankScript = (call: RerankCall) => Raw | null;

/** null lets the embedder answer with its vectors. */
export type EmbeddingScript = (call: EmbeddingCall) => Raw | null | Promise<Raw | null>;

/** The error body that OpenAI sends. */
export function refusal(status: number, error: { message: string; code?: string; param?: string }): HttpReply {
  const { message, code = null, param = null } = error;
  return { status, body: { error: { message, type: 'invalid_request_error', param, code } } };
}
