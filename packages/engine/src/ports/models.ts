import type { EngineError } from '../errors.ts';
import type { JsonObject, Millis } from '../words.ts';
import type { Cancellation } from './tools.ts';

/** One question to a chat model that answers with one JSON object. */
export interface ChatCall {
  /** The kind of call; also the name of the answer's schema. */
  readonly name: string;
  readonly system: string;
  /** The last user message; ends with one JSON object on its own line(s). */
  readonly user: string;
  /** JSON schema of the answer: every key required, nullable where it may be missing. */
  readonly schema: JsonObject;
  /** How often it was asked before without a usable answer; each time it is asked in another way. Missing: never. */
  readonly again?: number;
  /** No answer may have more tokens. Missing: as many as the model's settings allow. */
  readonly answerMost?: number;
  /** Addresses of images that stand in the user message: http(s) URLs, or data URLs. */
  readonly images?: readonly string[];
  /**
   * Run when all waiting for places and limits is over, right before the question goes out: while it waited, others may have
   * had its answer. Where it throws nobody is asked.
   */
  readonly lastLook?: () => Promise<void>;
  /** Whether a model may answer in place of the one that is asked, while that is away. Missing: any may. */
  readonly mayStandIn?: (model: string) => Promise<boolean>;
  /** Told of a model that was asked and is away, before the next one is asked. */
  readonly passedOn?: (error: EngineError) => Promise<void>;
}

export interface TokenUse {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Of the prompt's tokens, those the provider had in its cache; missing: none, or it does not say. */
  readonly cachedTokens?: number;
}

export const NOTHING_USED: TokenUse = { promptTokens: 0, completionTokens: 0 };

export interface ChatAnswer {
  readonly text: string;
  /** The model that answered, as its server calls it. */
  readonly model: string;
  /** The model that was asked, as it is configured. Missing: the one whose name the work knows. */
  readonly asked?: string;
  readonly usage: TokenUse;
  /** The model stopped because it ran out of output, not because it was done. */
  readonly truncated: boolean;
}

/** Throws EngineError: the adapter knows whether a failure is worth another try. */
export interface ChatModel {
  readonly name: string;
  ask(call: ChatCall, cancel: Cancellation): Promise<ChatAnswer>;
}

/** An answer of a job; null: the provider gave none to this question. */
export interface BulkAnswer {
  readonly id: string;
  readonly answer: ChatAnswer | null;
}

/**
 * A provider that answers many questions together within a day, at a lower price. How it calls a job and its files is its own
 * business, kept by whoever asks. Throws EngineError.
 */
export interface BulkProvider {
  /** The chat model that is asked. */
  readonly model: string;
  /** Hands a job in, once: one that was handed in under this id before is found again. */
  submit(
    job: { readonly id: string; readonly questions: readonly { readonly id: string; readonly call: ChatCall }[] },
    cancel: Cancellation,
  ): Promise<JsonObject>;
  /** A job that may have been handed in under this id; null: it was not. */
  find(id: string, cancel: Cancellation): Promise<JsonObject | null>;
  /** Whether nothing more will be answered: it is done, failed, expired or cancelled. */
  look(remote: JsonObject, cancel: Cancellation): Promise<{ readonly remote: JsonObject; readonly isOver: boolean }>;
  answers(remote: JsonObject, cancel: Cancellation): Promise<readonly BulkAnswer[]>;
  cancel(remote: JsonObject, cancel: Cancellation): Promise<void>;
  /** Deletes the files of a job. */
  remove(remote: JsonObject, cancel: Cancellation): Promise<void>;
}

export interface Embedded {
  /**
   * One unit-length vector per text, in order, of as many as were embedded in one go: at least of the first. null: the model
   * refuses this text for good, also when it is asked for nothing else, and takes others.
   */
  readonly vectors: readonly (Float32Array | null)[];
  readonly usage: TokenUse;
}

export interface Embedder {
  /** Names the vector space: model and dimensions. Vectors of two fingerprints are never compared. */
  readonly fingerprint: string;
  readonly dimensions: number;
  /**
   * Throws EngineError where the texts are not at fault: later the same ones may be embedded. What was embedded is never
   * thrown away: whoever needs more vectors than came asks for the rest.
   */
  embed(texts: readonly string[], cancel: Cancellation): Promise<Embedded>;
  /** Waits for texts that others are embedding no longer than for its own. Missing: as long as they take. */
  inTime?<T>(others: Promise<T>): Promise<T>;
}

interface RerankQuestion {
  readonly query: string;
  readonly documents: readonly string[];
}

export interface Relevance {
  /** Of a document, by its place in the question. */
  readonly index: number;
  /** The higher the better; comparable only within one answer. */
  readonly score: number;
}

/** Reads a question and each text together, and says how well it answers. Throws EngineError. */
export interface Reranker {
  /** Each document at most once, any order. One that is missing is thought to be beside the point. */
  rerank(question: RerankQuestion, cancel: Cancellation): Promise<readonly Relevance[]>;
}

/**
 * Counts tokens as a model does. Special tokens inside a text are text like any other, and counting takes time in
 * proportion to the text's length, whatever the text.
 */
export interface Tokenizer {
  /** The encoding it counts in. */
  readonly name: string;
  count(text: string): number;
}

/**
 * Vectors by a key, shared by several processes. It helps and is never needed: what is away, late or broken is
 * answered like what is not there, and soon.
 */
export interface VectorCache {
  get(key: string): Promise<Float32Array | null>;
  /** Nobody waits for it. */
  put(key: string, vector: Float32Array): void;
  close(): Promise<void>;
}

/** What a provider allows of one model in any 60 seconds; null: no limit known. */
export interface ModelLimits {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

export type Reservation =
  | { readonly kind: 'granted'; readonly id: string }
  /** No room now; there may be some after this long. */
  | { readonly kind: 'wait'; readonly ms: Millis };

/**
 * The shared memory of all workers about what a provider still allows. Room is reserved before a call with an estimate
 * and corrected after it to what it really took. Within any 60 seconds no more is granted than the limits say.
 */
export interface Limiter {
  reserve(model: string, tokens: number): Promise<Reservation>;
  /** Replaces the estimate by the real use. An unknown or old id is ignored. */
  correct(model: string, id: string, tokens: number): Promise<void>;
  /** The provider refused: nobody asks again before. A shorter pause never ends a longer one. */
  pause(model: string, ms: Millis): Promise<void>;
  close(): Promise<void>;
}
