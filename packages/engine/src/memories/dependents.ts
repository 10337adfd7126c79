import type { Memory, MemoryEvent } from '../words.ts';
import { inEffect } from './in-effect.ts';

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
