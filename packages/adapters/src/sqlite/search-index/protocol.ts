import type {
  BuildNote,
  Compaction,
  IndexHit,
  IndexLane,
  IndexMarker,
  IndexPoint,
  IndexQuery,
  PointName,
  Shelf,
  TenantId,
  Withdrawal,
} from '@slowwave/engine';
import type { PlaceOfPoint } from '../../shown-point.ts';
import type { CacheOptions } from './owners.ts';

/** The vector space an index is opened for. */
export interface IndexSpace {
  readonly dimensions: number;
  /** Names the space: vectors of two fingerprints are never compared. */
  readonly fingerprint: string;
}

export interface IndexThreadInit {
  readonly role: 'writer' | 'reader' | 'builder';
  readonly path: string;
  readonly space: IndexSpace;
  /** How much the reader may keep in memory. */
  readonly cache: Omit<CacheOptions, 'dimensions'>;
}

/** A hit as it crosses the thread: one string is cheaper to hand over than its object. */
export interface FoundPoint extends Pick<IndexHit['point'], 'memoryId' | 'version' | 'live'> {
  /** What a hit shows, see shown-point.ts. */
  readonly payload: string;
  readonly vectorScore: IndexHit['vectorScore'];
  readonly keywordScore: IndexHit['keywordScore'];
}

export interface PagedPoint {
  readonly place: PlaceOfPoint;
  readonly payload: string;
}

export interface WriterMethods {
  upsert(points: readonly IndexPoint[]): void;
  withdraw(withdrawals: readonly Withdrawal[]): void;
  stamp(marker: IndexMarker): void;
  forget(of: IndexLane): number;
  compact(): Compaction;
  clear(): void;
}

export interface ReaderMethods {
  marker(): IndexMarker | null;
  count(tenant: TenantId, shelf: Shelf): number;
  vectors(names: readonly PointName[]): readonly (Float32Array | null)[];
  /** Keeps nothing decoded of a lane, on any shelf. */
  drop(of: IndexLane): void;
  page(after: string | null, limit: number): { readonly points: readonly PagedPoint[]; readonly next: string | null };
  search(queries: readonly IndexQuery[]): Promise<readonly (readonly FoundPoint[])[]>;
}

export interface BuildMethods {
  begun(ledgerId: string): BuildNote | null;
  begin(note: BuildNote): void;
  write(points: readonly IndexPoint[]): void;
  forget(of: IndexLane): number;
  withdraw(withdrawals: readonly Withdrawal[]): void;
  note(note: BuildNote): void;
  takeOver(): void;
  finish(marker: IndexMarker): void;
}
