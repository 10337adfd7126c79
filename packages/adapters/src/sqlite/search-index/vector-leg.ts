import { cosineOf, dot, lengthOf } from '@slowwave/engine/storing';
import { NUMBERS_AT, padded, WORD } from './record.ts';
import { compareSeen, type Seen } from './seen.ts';
import { type Segment, wordAt } from './segment.ts';
import { type Ranked, topOf } from './top.ts';

/** Rounding of a thousand additions of single precision, in a cosine. */
const ROUNDING = 1e-6;

/** Whole vectors of seen positions, read from the file. */
export type WholeVectors = (positions: readonly number[]) => ReadonlyMap<number, Float32Array>;

export interface Asked {
  readonly vector: Float32Array;
  readonly limit: number;
}

/**
 * The nearest vectors, exactly. All are compared by their 8-bit numbers first, which tell a cosine to within a hundredth
 * and each by how much at most; only those that may be among the best by that are compared whole.
 */
export function vectorLeg(seen: Seen, { vector, limit }: Asked, whole: WholeVectors): readonly Ranked[] {
  if (limit < 1) return [];
  const asked = lengthOf(vector);
  const top = topOf(limit, (one, other) => compareSeen(seen, one, other));
  const positions = mayBeBest(seen, { vector, limit });
  const hasDirection = (position: number): boolean => asked > 0 && directed(seen, position);
  const vectors = whole(positions.filter(hasDirection));
  for (const position of positions) {
    const stored = vectors.get(position);
    if (stored !== undefined) top.offer(position, cosineOf(dot(stored, vector), lengthOf(stored) * asked));
    else if (!hasDirection(position)) top.offer(position, 0);
  }
  return top.list();
}

/** Whether a vector is not all zeros, as it is of what only words find: its cosine is known without reading it. */
function directed({ segments, records }: Seen, position: number): boolean {
  const segment = segments[position];
  return segment !== undefined && (segment.floats[beginOf(segment, records[position] ?? 0) / 8] ?? 0) > 0;
}

/** Whoever can reach what the last of the best reaches at least. */
function mayBeBest(seen: Seen, { vector, limit }: Asked): number[] {
  const { records, segments } = seen;
  const question = unitOf(vector);
  const cosines = new Float64Array(records.length);
  const errors = new Float64Array(records.length);
  const surely = topOf(limit, () => 0);
  for (let i = 0; i < records.length; i += 1) {
    const segment = segments[i];
    if (segment === undefined) continue;
    const begin = beginOf(segment, records[i] ?? 0);
    const [cosine, error] = [roughCosine(segment, begin, question), errorAt(segment, begin)];
    cosines[i] = cosine;
    errors[i] = error;
    surely.offer(i, cosine - error);
  }
  const least = records.length > limit ? (surely.list().at(-1)?.[1] ?? 0) : Number.NEGATIVE_INFINITY;
  return [...records.keys()].filter((i) => (cosines[i] ?? 0) + (errors[i] ?? 0) >= least);
}

/** Of length one, and zeros up to a multiple of eight, as the numbers of a record have. */
function unitOf(vector: Float32Array): Float64Array {
  const unit = new Float64Array(padded(vector.length));
  const length = lengthOf(vector);
  if (length === 0) return unit;
  for (let i = 0; i < vector.length; i += 1) unit[i] = (vector[i] ?? 0) / length;
  return unit;
}

const beginOf = (segment: Segment, record: number): number => record + wordAt(segment, record, WORD.vectorAt);

const errorAt = ({ floats }: Segment, begin: number): number => (floats[begin / 8 + 1] ?? 0) + ROUNDING;

/** Four sums side by side: each addition would else wait for the one before. */
function roughCosine({ floats, numbers }: Segment, begin: number, question: Float64Array): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  const first = begin + NUMBERS_AT;
  for (let i = 0; i < question.length; i += 4) {
    const at = first + i;
    a += (numbers[at] as number) * (question[i] as number);
    b += (numbers[at + 1] as number) * (question[i + 1] as number);
    c += (numbers[at + 2] as number) * (question[i + 2] as number);
    d += (numbers[at + 3] as number) * (question[i + 3] as number);
  }
  return (a + b + c + d) * (floats[begin / 8] ?? 0);
}
