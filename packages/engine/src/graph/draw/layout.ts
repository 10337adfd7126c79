import { separate } from './separate.ts';

/** Something with a size that gets a place; x and y are of its middle. */
export interface Box {
  readonly width: number;
  readonly height: number;
}
export interface Placed extends Box {
  readonly x: number;
  readonly y: number;
}

/** Two boxes that belong near each other, by their places in the list. */
export interface Tie {
  readonly a: number;
  readonly b: number;
}

/** How far tied boxes want to be apart, in pixels. */
const REACH = 52;
/** Texts are wide and low: so is the picture, by this. */
const WIDER = 1.7;
/** Pairs looked at in all: more boxes get fewer rounds, so that a drawing takes milliseconds. */
const PAIRS_MAX = 3_000_000;
const ROUNDS = { least: 30, most: 300 } as const;
/** How strongly everything is held together: else what is not tied drifts away. */
const GRAVITY = 0.02;
/** So that what would begin at the same place does not: nothing would ever part it. */
const NUDGE = 0.02;
/** The turn from one place to the next of a spiral, on which no two places line up. */
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/**
 * Places for boxes, so that tied ones are near each other and none covers another. The first box begins in the middle. The
 * same boxes get the same places, every time: nothing here is left to chance.
 */
export function layout(boxes: readonly Box[], ties: readonly Tie[]): readonly Placed[] {
  const spots = beginnings(boxes.length, ties);
  const pairs = Math.max(1, boxes.length * boxes.length);
  const rounds = Math.min(ROUNDS.most, Math.max(ROUNDS.least, Math.floor(PAIRS_MAX / pairs)));
  for (let round = 0; round < rounds; round += 1) {
    const moves = pushes(spots);
    pull(spots, ties, moves);
    move(spots, moves, REACH * (1 - round / rounds));
  }
  return separate(boxes.map((box, i) => ({ ...box, x: (spots[i]?.x ?? 0) * WIDER, y: spots[i]?.y ?? 0 })));
}

interface Spot {
  x: number;
  y: number;
}

/** On a spiral; what is tied to earlier ones alone begins between them. */
function beginnings(count: number, ties: readonly Tie[]): Spot[] {
  const spots = Array.from({ length: count }, (_, i) => onSpiral(i));
  const tied = new Map<number, Spot[]>();
  for (const { a, b } of ties) {
    const [late, early] = a > b ? [a, b] : [b, a];
    tied.set(late, [...(tied.get(late) ?? []), onSpiral(early)]);
  }
  for (const [late, others] of tied) {
    const nudge = onSpiral(late);
    const middle = others.reduce((sum, { x, y }) => ({ x: sum.x + x, y: sum.y + y }), { x: 0, y: 0 });
    spots[late] = { x: middle.x / others.length + nudge.x * NUDGE, y: middle.y / others.length + nudge.y * NUDGE };
  }
  return spots;
}

const onSpiral = (i: number): Spot => {
  const radius = REACH * Math.sqrt(i);
  return { x: radius * Math.cos(i * GOLDEN), y: radius * Math.sin(i * GOLDEN) };
};

/** Everything pushes everything else away, the nearer the more. */
function pushes(spots: readonly Spot[]): Spot[] {
  const moves = spots.map(({ x, y }) => ({ x: -x * GRAVITY, y: -y * GRAVITY }));
  for (const [i, one] of spots.entries()) {
    for (let j = i + 1; j < spots.length; j += 1) {
      const other = spots[j] as Spot;
      const [dx, dy] = [one.x - other.x || 0.01, one.y - other.y];
      const force = (REACH * REACH) / (dx * dx + dy * dy + 1);
      shift(moves[i], dx * force, dy * force);
      shift(moves[j], -dx * force, -dy * force);
    }
  }
  return moves;
}

function pull(spots: readonly Spot[], ties: readonly Tie[], moves: readonly Spot[]): void {
  for (const { a, b } of ties) {
    const [one, other] = [spots[a], spots[b]];
    if (one === undefined || other === undefined) continue;
    const [dx, dy] = [one.x - other.x, one.y - other.y];
    const force = Math.hypot(dx, dy) / REACH;
    shift(moves[a], -dx * force, -dy * force);
    shift(moves[b], dx * force, dy * force);
  }
}

/** Not further than `most`: it becomes less with each round, and the picture comes to rest. */
function move(spots: readonly Spot[], moves: readonly Spot[], most: number): void {
  for (const [i, spot] of spots.entries()) {
    const { x, y } = moves[i] ?? { x: 0, y: 0 };
    const length = Math.hypot(x, y);
    const part = length > most ? most / length : 1;
    shift(spot, x * part, y * part);
  }
}

function shift(spot: Spot | undefined, dx: number, dy: number): void {
  if (spot === undefined) return;
  spot.x += dx;
  spot.y += dy;
}
