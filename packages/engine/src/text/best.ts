/** The position of a document in its owner's list, and its score. */
export type Scored = readonly [document: number, score: number];

/**
 * The `limit` highest scores, best first; of equal ones those of lower position. Keeps only the best while it reads, for
 * most of thousands of scores never make it into the list.
 */
export function best(scores: Iterable<Scored>, limit: number): Scored[] {
  const list: Scored[] = [];
  for (const scored of scores) {
    const last = list.at(-1);
    if (list.length >= limit && (last === undefined || compare(scored, last) > 0)) continue;
    list.splice(placeOf(scored, list), 0, scored);
    if (list.length > limit) list.pop();
  }
  return list;
}

const compare = (a: Scored, b: Scored): number => b[1] - a[1] || a[0] - b[0];

/** By halving. */
function placeOf(scored: Scored, list: readonly Scored[]): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = list[middle];
    if (other !== undefined && compare(other, scored) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
