import type { LaneId, Memory, Message, Scope } from '../../words.ts';

/** What there is of one lane, page by page: for exports. */
export interface ContentStore {
  /** In the order of arrival, those after a sequence. */
  messages(lane: LaneId, after: number, limit: number): Promise<readonly Message[]>;
  /** In the order of their ids, deleted ones too. */
  memories(lane: LaneId, after: string | null, limit: number): Promise<readonly Memory[]>;
  /** The rolling summaries of its scopes, where there are any. */
  summaries(lane: LaneId): Promise<readonly { readonly scope: Scope; readonly summary: string }[]>;
}
