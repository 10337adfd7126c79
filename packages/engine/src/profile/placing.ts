import { holdingMarks, inEffect } from '../memories/evolve.ts';
import type { Memory, Placement } from '../words.ts';

/**
 * Where a memory stands in the profile of its owner; null: nobody said. What a person said last holds for the memory whatever it
 * comes to say. What a night said holds for the words it was said of: a memory that is corrected, deleted or undone has lost its place.
 */
export function placementOf({ timeline }: Pick<Memory, 'timeline'>): Placement | null {
  if (!timeline.some((mark) => mark.kind === 'said' && mark.details.placed !== undefined)) return null;
  const placing = inEffect(timeline).flatMap((mark) =>
    mark.kind === 'said' && mark.details.placed !== undefined ? [{ mark, placed: mark.details.placed }] : [],
  );
  const byPerson = placing.findLast(({ placed }) => placed.by === 'person');
  if (byPerson !== undefined) return byPerson.placed;
  const holding = new Set(holdingMarks(timeline));
  return placing.findLast(({ mark }) => holding.has(mark.revision))?.placed ?? null;
}

/** Whether a person gave it its place in the profile: nights leave it as it is. */
export function isPersonsLine(memory: Pick<Memory, 'timeline'>): boolean {
  const placed = placementOf(memory);
  return placed?.by === 'person' && placed.slot !== null;
}
