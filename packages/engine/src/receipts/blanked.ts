import { liveVersion } from '../memories/evolve.ts';
import type { MemoryChange } from '../ports/ledger/memories.ts';
import type { LaneId } from '../words.ts';

/** Memories that are looked for in each receipt of a lane: more would take as many times as long, with the lane locked. */
export const LOOKED_FOR_MAX = 10;

/**
 * Whose questions go with what these changes forget, and their filters, since they may say what it was: by lane, of answers that
 * told one of these memories. null: so many are forgotten that the questions of all answers go.
 */
export function blankedBy(changes: readonly MemoryChange[]): ReadonlyMap<LaneId, readonly string[] | null> {
  const forgotten = changes.map(({ memory }) => memory).filter((memory) => liveVersion(memory) === null);
  const byLane = [...Map.groupBy(forgotten, ({ lane }) => lane)];
  return new Map(
    byLane.map(([lane, memories]) => [lane, memories.length > LOOKED_FOR_MAX ? null : memories.map(({ id }) => id)]),
  );
}
