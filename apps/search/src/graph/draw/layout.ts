/** A box to be placed; x and y are its centre. */
export interface Box {
  readonly width: number;
  readonly height: number;
}
export interface Placed extends Box {
  readonly x: number;
  readonly y: number;
}

/** Two boxes that should be near each other, by their indexes. */
export interface Tie {
  readonly a: number;
  readonly b: number;
}

/** The desired distance of tied boxes, in pixels. */
const REACH = 52;
/** Texts are wide, so the picture is stretched by this factor. */
const WIDER = 1.7;
/** The total number of pairs: more boxes get fewer rounds, so that a drawing takes milliseconds. */
const PAIRS_MAX = 3_000_000;
const ROUNDS = { least: 30, most: 300 } as const;
/** The pull towards the centre: without it, boxes without ties drift away. */
const GRAVITY = 0.02;
/** Separates boxes that would start at the same place, because nothing else would. */
const NUDGE = 0.02;
/** The angle between places of a spiral on which no two places line up. */
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/**
 * Places boxes so that tied ones are near each other and none overlap. The first box starts in the middle. The result is
 * deterministic.
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

/** On a spiral; a box that is tied to earlier ones starts between them. */
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

/** Boxes repel each other, the nearer the more. */
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

/** Moves at most by `most`, which decreases with each round so that the picture settles. */
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

/** The minimum gap between two boxes, in pixels. */
const GAP = { x: 10, y: 8 } as const;
/** Each round leaves fewer overlaps; a few are enough for some hundred boxes. */
const PASSES = 200;

type Moving = { -readonly [K in keyof Placed]: Placed[K] };

/** The same boxes, moved just enough that none overlap. */
function separate(boxes: readonly Placed[]): readonly Placed[] {
  const moving: Moving[] = boxes.map((box) => ({ ...box }));
  for (let round = 0; round < PASSES; round += 1) {
    if (!pushApart(moving)) break;
  }
  return moving;
}

/** Whether any boxes overlapped. Goes from left to right: boxes behind the end of one need no check against it. */
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

/** Along the axis with the smaller overlap. */
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
