import type { LaneId, Message } from '../../words.ts';

/** A message and the one that was said before it in its conversation. */
export interface SaidMessage {
  readonly message: Message;
  /** The nearest earlier one of the scope that a user or an assistant said, resent copies left out; null: there is none. */
  readonly before: Message | null;
}

/** What was said, as the index is told of it. */
export interface SpeechStore {
  /** Existing messages of a lane by their ids, any order. Those of other lanes are left out. */
  said(lane: LaneId, ids: readonly string[]): Promise<readonly SaidMessage[]>;
}
