import type { LaneId, Millis, Owner, TenantId } from '../../words.ts';
import type { Nudge } from '../schedule.ts';

/**
 * Owners as they travel from one ledger to another. What is read is lines: first the owner, then each
 * kind of thing in the order in which things refer to each other, last how many lines there are.
 */
export interface BundleStore {
  /** Standing owners, by the ids of their lanes. */
  owners(tenant: TenantId, after: LaneId | null, limit: number): Promise<readonly BundledOwner[]>;
  /** The next lines of an owner. */
  lines(tenant: TenantId, owner: Owner, asked: AskedLines): Promise<BundlePage>;
  /** Erasures that are over, by id: what they erased is not to come back by an older bundle. */
  erasures(tenant: TenantId, after: string | null, limit: number): Promise<readonly BundledErasure[]>;
  /** Takes over those of another ledger that are not known. Returns how many there were. */
  takeErasures(tenant: TenantId, erasures: readonly BundledErasure[]): Promise<number>;

  /** Begins to take an owner over, or goes on with it. Nobody sees anything of the owner before `finish`. */
  begin(arriving: Arriving): Promise<Begun>;
  /** Takes the next lines over, all or none; `from`: how many were taken before. */
  take(id: string, from: number, lines: readonly string[]): Promise<Taken>;
  /** From now on the owner is there, and what it waits for goes on. */
  finish(id: string, now: Millis): Promise<Finished>;
  /** Imports of an owner that have not finished, and that nobody has thrown away, of this attempt to move it or earlier ones. */
  arriving(tenant: TenantId, owner: Owner, attempt: number): Promise<readonly ImportState[]>;
  /** What is known of an import; null: there is none. */
  find(id: string): Promise<ImportState | null>;
}

export interface AskedLines {
  /** null: from the first. */
  readonly cursor: string | null;
  /** Whether the owner leaves for good: with what is still to be done for it, and what is counted of it. As the first page was asked for. */
  readonly moving: boolean;
}

export interface BundledOwner {
  readonly lane: LaneId;
  readonly owner: Owner;
}

export type BundlePage =
  | {
      readonly kind: 'page';
      readonly lines: readonly string[];
      readonly nextCursor: string | null;
      /** With the last page: what the owner was while all were read. A departure names it. */
      readonly stamp: string | null;
    }
  /** There is no such owner. */
  | { readonly kind: 'gone' }
  /** Something was written to the owner since the first line was read: the lines are of no one moment. */
  | { readonly kind: 'changed' };

export interface BundledErasure {
  readonly id: string;
  readonly ownerHash: string;
  readonly requestedAt: Millis;
  readonly erasedAt: Millis;
}

/** An owner of a bundle. */
export interface Arriving {
  readonly tenant: TenantId;
  readonly owner: Owner;
  /** For a new import, and its lane. */
  readonly id: string;
  readonly lane: LaneId;
  /** By which an erasure of the owner would be known, in this ledger or in that of the bundle. */
  readonly ownerHashes: readonly string[];
  /** When its lines were read. */
  readonly readAt: Millis;
  readonly lines: number;
  /** The checksum of the last line. */
  readonly sum: string;
  /** Of a move between cells, else 0: an import of a later attempt stays. */
  readonly attempt: number;
  readonly now: Millis;
}

export type Begun =
  | ({ readonly kind: 'import' } & ImportState)
  /** The owner has said something here that is not of this bundle. */
  | { readonly kind: 'exists' }
  /** The owner was erased after the bundle was made. */
  | { readonly kind: 'erased' }
  /** The owner departed from here, and its rows are still being removed: only then may they come back. */
  | { readonly kind: 'leaving' }
  /** What arrived of the owner before was thrown away, and its rows are still being removed. */
  | { readonly kind: 'thrown_away' }
  /** The owner is arriving by a later attempt to move it. */
  | { readonly kind: 'overtaken' }
  /** Another bundle with this owner has not arrived completely. */
  | { readonly kind: 'other'; readonly id: string };

export interface ImportState {
  readonly id: string;
  readonly tenant: TenantId;
  readonly owner: Owner;
  /** How the owner is named until all of it has arrived. */
  readonly hidden: Owner;
  readonly finished: boolean;
  /** How many lines are taken. */
  readonly taken: number;
  readonly lines: number;
  readonly lane: LaneId;
}

export type Taken =
  | { readonly kind: 'taken'; readonly taken: number }
  /** Lines are expected from another place on. */
  | { readonly kind: 'elsewhere'; readonly taken: number }
  | { readonly kind: 'damaged'; readonly line: number; readonly expected: string; readonly got: string }
  /** The line is whole, and cannot be taken over. */
  | { readonly kind: 'refused'; readonly line: number; readonly problem: string }
  | { readonly kind: 'gone' };

export type Finished =
  | { readonly kind: 'finished'; readonly nudge: Nudge | null }
  | { readonly kind: 'incomplete'; readonly taken: number; readonly lines: number }
  | { readonly kind: 'exists' }
  | { readonly kind: 'erased' }
  | { readonly kind: 'gone' };

/**
 * The lines of a bundle. Each is a JSON object that ends with `sum`, a checksum of the line before it and of its own text: so a line
 * that changed, is missing or stands elsewhere is named, and the last sum vouches for all of them.
 */
export const BUNDLE_FORMAT = 1;

/** What the first line has before it. */
export const FIRST_SUM = '';

/** Digits of a checksum: half of a SHA-256 in hex. */
const SUM_DIGITS = 32;

/** As Tools has it. */
type Hash = (text: string) => string;

export interface Sealed {
  readonly line: string;
  readonly sum: string;
}

/** A JSON object with its checksum. */
export function sealed(hash: Hash, before: string, text: string): Sealed {
  const sum = sumOf(hash, before, text);
  return { line: `${text.slice(0, -1)},"sum":"${sum}"}`, sum };
}

const sumOf = (hash: Hash, before: string, text: string): string => hash(`${before}\n${text}`).slice(0, SUM_DIGITS);

const SEAL = new RegExp(`,"sum":"([0-9a-f]{${SUM_DIGITS}})"\\}$`);

export type Opened =
  /** `text` is the object without its checksum. */
  | { readonly kind: 'whole'; readonly text: string; readonly sum: string }
  | { readonly kind: 'damaged'; readonly expected: string; readonly got: string };

/** Checks a line against the one before it. */
export function opened(hash: Hash, before: string, line: string): Opened {
  const expected = SEAL.exec(line)?.[1];
  if (expected === undefined) return { kind: 'damaged', expected: 'a line that ends with its checksum', got: 'none' };
  const text = line.replace(SEAL, '}');
  const got = sumOf(hash, before, text);
  return got === expected ? { kind: 'whole', text, sum: got } : { kind: 'damaged', expected, got };
}

/**
 * What an owner was when its lines were read, in two parts: what is promised to be kept, and its receipts, which are not. Whoever moves it names
 * both; only if somebody asks again and again, so that it would never leave, the first alone.
 */
const BETWEEN = '.';

export const stampWith = (promised: string, receipts: string): string => `${promised}${BETWEEN}${receipts}`;

export const promisedBy = (stamp: string): string => stamp.split(BETWEEN, 1)[0] ?? stamp;

/** Whether an owner is still what a stamp says of it. */
export const isStill = (stamp: string, now: string): boolean =>
  stamp === (stamp.includes(BETWEEN) ? now : promisedBy(now));
