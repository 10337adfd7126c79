import type { Placed } from './layout.ts';

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Room between an arrow's tip and the box it points at, in pixels. */
const GAP = 3;

/** The way of an arrow from the edge of one box to the edge of another, through the middle of its label. */
export function curveOf({ from, over, to }: { from: Placed; over: Placed; to: Placed }): string {
  const [start, end] = [edgeOf(from, over), edgeOf(to, over)];
  // A curve of one bend passes its middle half-way between its ends' middle and its control point.
  const bend = { x: 2 * over.x - (start.x + end.x) / 2, y: 2 * over.y - (start.y + end.y) / 2 };
  return `M${text(start)}Q${text(bend)} ${text(end)}`;
}

/** Where the straight line from a box's middle to a point leaves the box. */
function edgeOf(box: Placed, towards: Point): Point {
  const [dx, dy] = [towards.x - box.x, towards.y - box.y];
  const across = dx === 0 ? Number.POSITIVE_INFINITY : (box.width / 2 + GAP) / Math.abs(dx);
  const down = dy === 0 ? Number.POSITIVE_INFINITY : (box.height / 2 + GAP) / Math.abs(dy);
  const part = Math.min(across, down, 1);
  return { x: box.x + dx * part, y: box.y + dy * part };
}

const text = ({ x, y }: Point): string => `${tenths(x)} ${tenths(y)}`;
const tenths = (number: number): number => Math.round(number * 10) / 10;
