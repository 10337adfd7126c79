import type { IndexPoint, Withdrawal } from '@slowwave/engine';
import { keptPart } from '../../index-point.ts';
import { type Head, WITHDRAWN } from './heads.ts';
import type { KeptPoint } from './packed-records.ts';
import { partsOf } from './packed-shown.ts';
import { headOf, momentsOf, recordOf } from './record.ts';
import { BLOCK_SLOTS, blockOf } from './tables.ts';

/** An owner while its points are written, wherever the index is. */
export interface OwnerWriting {
  readonly number: number;
  readonly changes: number;
  slots: number;
  points: number;
  /** What is written, by the first slots of blocks, and in them by slots. */
  readonly written: Map<number, Map<number, Written>>;
}

export interface Written {
  readonly point: KeptPoint;
  /** Something of it has to leave its block. */
  readonly isTakenBack: boolean;
}

/** What is said of a point, beside which it is. */
export interface Saying {
  readonly live: number;
  readonly moments: Float64Array;
  said(slot: number): KeptPoint['said'];
}

/** Nothing but that it is gone. */
export const NOTHING: Saying = { live: WITHDRAWN, moments: new Float64Array(0), said: () => null };

export function sayingOf(point: IndexPoint): Saying {
  const moments = Float64Array.from(momentsOf(point));
  const said = (slot: number) => ({
    record: recordOf(headOf(point, slot), point.vector),
    parts: partsOf(keptPart(point), moments),
  });
  return { live: point.live ? 1 : 0, moments, said };
}

interface Writing {
  readonly at: Withdrawal;
  readonly says: Saying;
  /** What is there; null: nothing. */
  readonly known: Head | null;
}

/** Takes in what is not older than what is there; says at which slot, or null where it is older. */
export function takeIn(owner: OwnerWriting, { at, says, known }: Writing): number | null {
  const { memoryId, version, revision } = at;
  if (known !== null && known.revision > revision) return null;
  // What was withdrawn at this revision was read before it was: it does not come back.
  if (known?.live === WITHDRAWN && known.revision === revision && says.live !== WITHDRAWN) return null;
  const slot = known?.slot ?? owner.slots;
  if (known === null) owner.slots += 1;
  owner.points += counted(says.live) - counted(known?.live ?? WITHDRAWN);
  const { live, moments } = says;
  const head: Head = { slot, live, memoryId, version, revision, change: owner.changes + 1, moments };
  const ofBlock = owner.written.get(blockOf(slot)) ?? new Map<number, Written>();
  owner.written.set(blockOf(slot), ofBlock);
  const isTakenBack = (live === WITHDRAWN && known !== null) || ofBlock.get(slot)?.isTakenBack === true;
  ofBlock.set(slot, { point: { head, said: says.said(slot) }, isTakenBack });
  return slot;
}

const counted = (live: number): number => (live === WITHDRAWN ? 0 : 1);

/** One alone is as well kept where it is. */
const LOOSE_MIN = 2;

interface Looseness {
  readonly first: number;
  /** How many the owner has given. */
  readonly slots: number;
  /** Those of the block that are loose before anything is written. */
  readonly loose: readonly number[];
  /**
   * Of the points of a block one in so many may be loose. Whoever is loose takes nearly twice as many bytes, and is read by itself; to
   * make a block anew takes as long as to write some ten points that are loose.
   */
  readonly looseOneIn: number;
}

/** Whether a block is made anew with what is written: too much would be loose, it is full, or something has to leave it. */
export function isMadeAnew(
  written: ReadonlyMap<number, Written>,
  { first, slots, loose, looseOneIn }: Looseness,
): boolean {
  const after = new Set([...loose, ...written.keys()]).size;
  const isTooMuch = after >= LOOSE_MIN && after * looseOneIn >= Math.min(BLOCK_SLOTS, slots - first);
  return isTooMuch || written.has(first + BLOCK_SLOTS - 1) || [...written.values()].some((one) => one.isTakenBack);
}
