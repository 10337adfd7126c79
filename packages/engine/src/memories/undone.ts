import type { Undo } from '../ports/ledger/reviews.ts';
import type { Memory, MemoryEvent } from '../words.ts';
import { inEffect } from './in-effect.ts';

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

/** A memory with all its events. */
export interface Life {
  readonly memory: Memory;
  readonly events: readonly MemoryEvent[];
}

/** What is undone as a whole: a consolidation with all its events, or one explicit write. */
export const unitOf = (event: MemoryEvent): string => event.consolidationId ?? event.id;

/**
 * Events that depend on these units: they count, and came after something of a unit that counts, to the same memory.
 * What is said of a memory was decided on all that was said of it before.
 */
export function dependentsOf(units: ReadonlySet<string>, { memory, events }: Life): readonly MemoryEvent[] {
  const counting = new Set(inEffect(memory.timeline).map(({ revision }) => revision));
  const said = events.filter(({ revision }) => counting.has(revision));
  const first = said.findIndex((event) => units.has(unitOf(event)));
  return first === -1 ? [] : said.slice(first).filter((event) => !units.has(unitOf(event)));
}
