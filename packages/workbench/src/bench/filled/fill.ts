import type { LaneId, SearchIndex } from '@slowwave/engine';
import type { Progress } from '../bench.ts';
import { memoriesIn, pointsOf, type Size } from './points.ts';
import type { Vocabulary } from './words.ts';

const AT_ONCE = 500; // points in a write: a transaction of some milliseconds

/** Puts the memories of all users into an index, without what usually goes before: no model, and of the ledger the lanes alone. */
export async function fillIndex(
  index: SearchIndex,
  { size, words, lanes }: { readonly size: Size; readonly words: Vocabulary; readonly lanes: readonly LaneId[] },
  progress: Progress,
): Promise<void> {
  const all = memoriesIn(size);
  let written = 0;
  // The next points are made while those before are written.
  let writing: Promise<void> = Promise.resolve();
  for (let user = 0; user < size.users; user += 1) {
    const lane = lanes[user] as LaneId;
    const points = pointsOf(user, size, words).map((point) => ({ ...point, lane }));
    for (let from = 0; from < points.length; from += AT_ONCE) {
      await writing;
      const some = points.slice(from, from + AT_ONCE);
      writing = index.upsert(some).then(() => {
        written += some.length;
        progress(`filled ${written} of ${all} memories`);
      });
    }
  }
  await writing;
}
