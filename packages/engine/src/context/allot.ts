/** Something that takes room in a block. */
export interface Item {
  readonly tokens: number;
}

/** What wants room: the items in the order in which they matter. */
export interface Wish<T extends Item> {
  readonly items: readonly T[];
  /** Of its heading, once there is anything under it. */
  readonly heading: number;
  /** Its part of the room, as long as others want theirs. */
  readonly share: number;
  /** Nothing behind an item that does not fit is taken: there are no gaps in what was said. */
  readonly unbroken: boolean;
}

/**
 * Shares the room out. Each wish is given its share first; then what is left over goes to the wishes from the last to
 * the first. `isKnown` says that an item need not be told beside what is taken already.
 */
export function allot<T extends Item>(
  wishes: readonly Wish<T>[],
  room: number,
  isKnown: (item: T, taken: readonly T[]) => boolean,
): readonly T[] {
  const wanted = wishes.filter(({ items }) => items.length > 0).reduce((sum, { share }) => sum + share, 0);
  const taken = new Set<T>();
  let left = room;
  const take = (wish: Wish<T>, atMost: number): void => {
    let space = Math.min(atMost, left);
    for (const item of wish.items.filter((one) => !taken.has(one))) {
      if (isKnown(item, [...taken])) continue;
      const cost = item.tokens + (wish.items.some((one) => taken.has(one)) ? 0 : wish.heading);
      if (cost <= space) {
        taken.add(item);
        space -= cost;
        left -= cost;
      } else if (wish.unbroken) return;
    }
  };
  for (const wish of wishes) take(wish, Math.floor((room * wish.share) / wanted));
  for (const wish of wishes.toReversed()) take(wish, left);
  return [...taken];
}
