import type { JsonObject } from '../words.ts';
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
  /** Addresses of images that stand in the user message: http(s) URLs, or data URLs. */
  readonly images?: readonly string[];
  /**
   * Run when all waiting for places and limits is over, right before the question goes out: while it waited, others may have
   * had its answer. Where it throws nobody is asked.
   */
  readonly lastLook?: () => Promise<void>;
}

export interface TokenUse {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface ChatAnswer {
  readonly text: string;
  /** The model that answered. */
  readonly model: string;
  readonly usage: TokenUse;
  /** The model stopped because it ran out of output, not because it was done. */
  readonly truncated: boolean;
}

/** Throws EngineError: the adapter knows whether a failure is worth another try. */
export interface ChatModel {
  readonly name: string;
  ask(call: ChatCall, cancel: Cancellation): Promise<ChatAnswer>;
}

export interface Embedded {
  /**
   * One unit-length vector per text, in order. null: the model refuses this text for good, also when it is asked for nothing
   * else, and takes others.
   */
  readonly vectors: readonly (Float32Array | null)[];
  readonly usage: TokenUse;
}

export interface Embedder {
  /** Names the vector space: model and dimensions. Vectors of two fingerprints are never compared. */
  readonly fingerprint: string;
  readonly dimensions: number;
  /** Throws EngineError where the texts are not at fault: later the same ones may be embedded. */
  embed(texts: readonly string[], cancel: Cancellation): Promise<Embedded>;
}
