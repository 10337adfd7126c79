import type { Placed } from './layout.ts';

/** Room between two boxes, in pixels. */
const GAP = { x: 10, y: 8 } as const;
/** Each round leaves less in each other's way; a few of them are enough for some hundred boxes. */
const ROUNDS = 200;

type Moving = { -readonly [K in keyof Placed]: Placed[K] };

/** The same boxes, moved as little as it takes that none covers another. */
export function separate(boxes: readonly Placed[]): readonly Placed[] {
  const moving: Moving[] = boxes.map((box) => ({ ...box }));
  for (let round = 0; round < ROUNDS; round += 1) {
    if (!pushApart(moving)) break;
  }
  return moving;
}

/** Whether any two were in each other's way. From left to right: what begins behind the end of one is in nobody's before. */
function pushApart(boxes: readonly Moving[]): boolean {
  const fromLeft = boxes.toSorted((a, b) => leftOf(a) - leftOf(b));
  let pushed = false;
  for (const [i, one] of fromLeft.entries()) {
    const end = one.x + one.width / 2 + GAP.x;
    for (let j = i + 1; j < fromLeft.length; j += 1) {
      const other = fromLeft[j] as Moving;
      if (leftOf(other) > end) break;
      pushed = pushPair(one, other) || pushed;
    }
  }
  return pushed;
}

const leftOf = ({ x, width }: Moving): number => x - width / 2;

/** Along the way on which it takes less. */
function pushPair(one: Moving, other: Moving): boolean {
  const [dx, dy] = [other.x - one.x, other.y - one.y];
  const overX = (one.width + other.width) / 2 + GAP.x - Math.abs(dx);
  const overY = (one.height + other.height) / 2 + GAP.y - Math.abs(dy);
  if (overX <= 0 || overY <= 0) return false;
  if (overX < overY) {
    const by = (overX / 2 + 0.5) * (dx < 0 ? -1 : 1);
    one.x -= by;
    other.x += by;
  } else {
    const by = (overY / 2 + 0.5) * (dy < 0 ? -1 : 1);
    one.y -= by;
    other.y += by;
  }
  return true;
}
