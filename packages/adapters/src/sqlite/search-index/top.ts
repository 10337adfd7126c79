/** A position and its score. */
export type Ranked = readonly [position: number, score: number];

export interface Top {
  offer(position: number, score: number): void;
  /** Best first. */
  list(): readonly Ranked[];
}

/**
 * The `limit` highest scores; of equal ones those that come first by `order`, which is asked only about such. Keeps the
 * best while it is offered more, for most of thousands never make it into the list.
 */
export function topOf(limit: number, order: (one: number, other: number) => number): Top {
  const list: Ranked[] = [];
  const compare = (a: Ranked, b: Ranked): number => b[1] - a[1] || order(a[0], b[0]);
  return {
    list: () => list,
    offer: (position, score) => {
      const last = list.at(-1);
      if (list.length >= limit && (last === undefined || score < last[1])) return;
      const offered: Ranked = [position, score];
      if (list.length >= limit && last !== undefined && compare(offered, last) > 0) return;
      list.splice(placeOf(offered, list, compare), 0, offered);
      if (list.length > limit) list.pop();
    },
  };
}

/** By halving. */
function placeOf(ranked: Ranked, list: readonly Ranked[], compare: (a: Ranked, b: Ranked) => number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = list[middle];
    if (other !== undefined && compare(other, ranked) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
