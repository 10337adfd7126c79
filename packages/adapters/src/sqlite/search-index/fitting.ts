import type { Filter, IndexQuery } from '@slowwave/engine';

/** The slots of an owner that a filter is true of, as they were after a count of changes. */
export interface Fitting {
  readonly changes: number;
  has(slot: number): boolean;
  /** The same after more changes, of which these slots were touched. */
  with(changes: number, touched: Iterable<TouchedSlot>): Fitting;
}

export interface TouchedSlot {
  readonly slot: number;
  /** Whether the filter is true of what is there now, 1 or 0. */
  readonly fits: number;
}

export const NOTHING_FITS: Fitting = fittingOf(0, new Uint8Array(0));

/** A byte for each slot. */
function fittingOf(changes: number, slots: Uint8Array): Fitting {
  return {
    changes,
    has: (slot) => slots[slot] === 1,
    with: (after, touched) => {
      const all = [...touched];
      if (all.length === 0) return fittingOf(after, slots);
      const last = all.reduce((most, { slot }) => Math.max(most, slot), slots.length - 1);
      const now = new Uint8Array(last + 1);
      now.set(slots);
      for (const { slot, fits } of all) now[slot] = fits;
      return fittingOf(after, now);
    },
  };
}

/**
 * What filters have left of one owner. A filter is put to all that the owner has once, and from then on to what has changed since: whoever
 * asks with the same filter again and again does not pay for how much there is.
 */
export interface FittingKept {
  get(filter: FilterOf): Fitting | null;
  keep(filter: FilterOf, fitting: Fitting): void;
}

type FilterOf = Pick<IndexQuery, 'visibility'> & { readonly where: Filter };

const KEPT_MAX = 16;
/** A longer filter is not worth its room. */
const FILTER_CHARS_MAX = 4_096;

export function fittingKept(): FittingKept {
  const kept = new Map<string, Fitting>(); // least recently used first
  return {
    get: (filter) => kept.get(nameOf(filter)) ?? null,
    keep: (filter, fitting) => {
      const name = nameOf(filter);
      if (name.length > FILTER_CHARS_MAX || (kept.get(name)?.changes ?? 0) > fitting.changes) return;
      kept.delete(name);
      kept.set(name, fitting);
      for (const oldest of kept.keys()) if (kept.size > KEPT_MAX) kept.delete(oldest);
    },
  };
}

/** Most of what an owner has may be former versions: where nobody sees them, no filter is put to them. */
export const seesOnlyLive = ({ visibility }: Pick<IndexQuery, 'visibility'>): boolean => visibility.kind === 'live';

const nameOf = (filter: FilterOf): string => JSON.stringify([seesOnlyLive(filter), filter.where]);
