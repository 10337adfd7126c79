import type { LaneId, Millis } from '../words.ts';
import type { Cancellation } from './tools.ts';

/** The queue of erasures, as far as the engine needs it. Holds ids; to lose it loses nothing: the sweep asks again. */
export interface ErasureQueue {
  /** Idempotent per erasure. */
  erase(ids: readonly string[]): Promise<void>;
  /** Whatever the queues hold or have kept of a lane goes; what runs just now ends by itself. */
  forgetLane(lane: LaneId): Promise<void>;
}

/** What a worker answers for one job: null when the erasure is over, else when to come back. */
export type ErasureHandler = (id: string, cancel: Cancellation) => Promise<Millis | null>;
