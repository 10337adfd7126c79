import type { Millis } from '../words.ts';

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
 * and settled after it with what it really took. Within any 60 seconds no more is granted than the limits say.
 */
export interface Limiter {
  reserve(model: string, tokens: number): Promise<Reservation>;
  /** Replaces the estimate by the real use. An unknown or old id is ignored. */
  settle(model: string, id: string, tokens: number): Promise<void>;
  /** The provider refused: nobody asks again before. A shorter pause never ends a longer one. */
  pause(model: string, ms: Millis): Promise<void>;
  close(): Promise<void>;
}
