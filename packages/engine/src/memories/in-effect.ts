import type { Mark } from '../words.ts';

/** A mark that says something of its memory. */
export type Spoken = Exclude<Mark, { kind: 'retracted' }>;

/**
 * What counts of a timeline, in the order of arrival. A mark counts unless a retraction that counts itself names it; so
 * an undo that is undone leaves everything as it was. Retractions name earlier marks only.
 */
export function inEffect(timeline: readonly Mark[]): readonly Spoken[] {
  if (timeline.every(isSpoken)) return timeline;
  const retracted = new Set<number>();
  for (const mark of timeline.toReversed()) {
    if (mark.kind !== 'retracted' || retracted.has(mark.revision)) continue;
    for (const one of mark.retracts) retracted.add(one);
  }
  return timeline.filter(isSpoken).filter(({ revision }) => !retracted.has(revision));
}

const isSpoken = (mark: Mark): mark is Spoken => mark.kind !== 'retracted';
