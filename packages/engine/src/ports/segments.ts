import type { BatchPoints } from './ledger/owners-away.ts';
import type { IndexMarker, IndexPoint } from './search-index.ts';

/** What is kept of an owner that sleeps: enough to answer its searches, and to have it back as it was. */
export interface SegmentContent {
  /** As they travel to another ledger; see ports/ledger/bundles.ts. */
  readonly lines: readonly string[];
  /** All that the index had. */
  readonly points: readonly IndexPoint[];
  /** The space of the points: one of another embedder finds nothing with them. */
  readonly space: IndexMarker['fingerprint'];
  /** How many messages of each batch the index had. */
  readonly told: readonly BatchPoints[];
}

/** An object, by the name of its segment. */
export interface SegmentObject {
  readonly name: string;
  readonly bytes: number;
}

/** Where segments are: a folder, or a bucket. Their names name no user. */
export interface SegmentStore {
  /** Answers with how many bytes it takes. It is there for good when it resolves, as it was given: it is read again and compared. */
  put(name: string, content: SegmentContent): Promise<number>;
  /** null: there is no such object. Throws if it is not whole. */
  get(name: string): Promise<SegmentContent | null>;
  /** Idempotent. */
  delete(name: string): Promise<void>;
  /** By name. */
  list(after: string | null, limit: number): Promise<readonly SegmentObject[]>;
  /** What stays of objects that were deleted, for people: old versions in a bucket that keeps them. */
  remains(): Promise<readonly string[]>;
}
