import { MEASURES } from '@slowwave/engine';

/** What work takes, in ms of processor time; see docs/scale.md. */
export const COSTS = {
  append: MEASURES.ingestMs.value,
  search: MEASURES.searchMs.value,
  route: MEASURES.routeMs.value,
  /** A transaction of the directory, and a small request to a cell about a move. */
  directory: MEASURES.directoryMs.value,
  small: MEASURES.directoryMs.value,
  /** Of reading all lines of an owner in one cell, or writing them in another. */
  lines: ({ perDay, days = DAYS }: { readonly perDay: number; readonly days?: number }): number =>
    perDay * days * (MEASURES.moveMs.value / 2),
} as const;

/** How long owners have talked already, in the hour that is simulated. */
const DAYS = 90;
