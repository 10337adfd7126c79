import type { Undo } from '../ports/ledger/undos.ts';

/** Why a review is stale whose consolidation was undone; with the consolidation it comes back. */
export const UNDONE_NOTE = 'its consolidation was undone';

/** The consolidations of a lane that are undone, by all its undos, oldest first. An undo takes earlier ones back only. */
export function undoneBy(undos: readonly Undo[]): ReadonlySet<string> {
  return new Set(undosInEffect(undos).flatMap(({ consolidations }) => consolidations));
}

/** The undos that count. */
export function undosInEffect(undos: readonly Undo[]): readonly Undo[] {
  const takenBack = new Set<string>();
  for (const { id, undos: earlier } of undos.toReversed()) {
    if (!takenBack.has(id)) for (const one of earlier) takenBack.add(one);
  }
  return undos.filter(({ id }) => !takenBack.has(id));
}
