import type { MeasuredRow, MeasuredStretch, Opinions } from '../ports/ledger/overview.ts';
import {
  addTallies,
  FIGURE_NAMES,
  type FigureName,
  type Figures,
  figureValue,
  kindOf,
  type Margin,
  type Tally,
} from './figures.ts';

/** What was measured of one owner: consolidations of one owner are alike, so that owners, not facts, are drawn from many. */
export interface OwnerFigures {
  readonly owner: string;
  readonly figures: Figures;
}

/** A figure of both sides. */
export interface Comparison {
  readonly figure: FigureName;
  /** null: nothing was measured on this side. */
  readonly baseline: number | null;
  readonly variant: number | null;
  /** Variant less baseline, with what it may as well be; null: one side has nothing, or too few owners to tell. */
  readonly difference: Interval | null;
  /** How many wholes were counted on each side: facts, messages, questions. */
  readonly n: { readonly baseline: number; readonly variant: number };
}

export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

interface CompareOptions {
  /** How sure the intervals are; 0.99 unless given. */
  readonly level?: number;
}

const LEVEL = 0.99;
/** Of fewer owners nobody can say how much they differ from one another. */
const OWNERS_MIN = 5;

/**
 * Every figure that both sides have. Shares have Wilson's interval for as many cases as the owners' differences leave, and Newcombe's of
 * the difference; means have that of a bootstrap over owners. Owners on both sides are taken for the same ones in another setup. The same
 * input always has the same answer.
 */
export function compare(
  baseline: readonly OwnerFigures[],
  variant: readonly OwnerFigures[],
  options: CompareOptions = {},
): readonly Comparison[] {
  return FIGURE_NAMES.flatMap((figure) => {
    const sides = { baseline: talliesOf(baseline, figure), variant: talliesOf(variant, figure) };
    return sides.baseline.size + sides.variant.size === 0 ? [] : [compareTallies(figure, sides, options)];
  });
}

/** By owner. */
export type Tallies = ReadonlyMap<string, Tally>;

export function talliesOf(side: readonly OwnerFigures[], figure: FigureName): Tallies {
  const tallies = new Map<string, Tally>();
  for (const { owner, figures } of side) {
    const tally = figures[figure];
    if (tally === undefined || tally.of === 0) continue;
    const known = tallies.get(owner);
    tallies.set(owner, known === undefined ? tally : addTallies([known, tally]));
  }
  return tallies;
}

/** One figure, or a part of it such as that of one language. */
export function compareTallies(
  figure: FigureName,
  sides: { readonly baseline: Tallies; readonly variant: Tallies },
  { level = LEVEL }: CompareOptions = {},
): Comparison {
  const [baseline, variant] = [addTallies([...sides.baseline.values()]), addTallies([...sides.variant.values()])];
  const owners = Math.min(sides.baseline.size, sides.variant.size);
  return {
    figure,
    baseline: figureValue(baseline),
    variant: figureValue(variant),
    difference:
      owners < OWNERS_MIN
        ? null
        : kindOf(figure).kind === 'share'
          ? differenceOfShares(sides, level)
          : differenceOfMeans(sides, level),
    n: { baseline: baseline.of, variant: variant.of },
  };
}

/** What a figure of one side may as well be; null: too few owners to tell. */
export function intervalOf(figure: FigureName, side: Tallies, { level = LEVEL }: CompareOptions = {}): Interval | null {
  if (side.size < OWNERS_MIN) return null;
  if (kindOf(figure).kind === 'share') return wilsonOfOwners(side, quantileOf((1 + level) / 2, side.size - 1));
  const random = mulberry(SEED);
  const all = [...side.values()];
  const draws = drawnAgain(() => ratioOf(drawn(all, random)));
  const tail = (1 - level) / 2;
  return { value: ratioOf(all), low: atQuantile(draws, tail), high: atQuantile(draws, 1 - tail) };
}

/** Newcombe's interval of a difference of two shares, each by Wilson's. */
function differenceOfShares({ baseline, variant }: { baseline: Tallies; variant: Tallies }, level: number): Interval {
  const z = quantileOf((1 + level) / 2, Math.min(baseline.size, variant.size) - 1);
  const [b, v] = [wilsonOfOwners(baseline, z), wilsonOfOwners(variant, z)];
  const value = v.value - b.value;
  return {
    value,
    low: value - Math.hypot(v.value - v.low, b.high - b.value),
    high: value + Math.hypot(v.high - v.value, b.value - b.low),
  };
}

function wilsonOfOwners(tallies: Tallies, z: number): Interval {
  const { part, of } = addTallies([...tallies.values()]);
  const p = part / of;
  const independent = p * (1 - p) * of;
  // How far the owners are from one another, against what chance alone would make of it.
  const apart = [...tallies.values()].reduce((sum, one) => sum + (one.part - p * one.of) ** 2, 0);
  const spread = (apart * tallies.size) / (tallies.size - 1);
  return wilson(p, independent > 0 && spread > independent ? (of * independent) / spread : of, z);
}

/** The interval of a share of n cases. */
export function wilson(p: number, n: number, z = 1.96): Interval {
  const scale = 1 + z ** 2 / n;
  const middle = (p + z ** 2 / (2 * n)) / scale;
  const half = (z * Math.sqrt((p * (1 - p)) / n + z ** 2 / (4 * n ** 2))) / scale;
  return { value: p, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

const DRAWS = 1_000;
const SEED = 20_260_301;

/** Fewer draws lie in a tail by chance alone: then it follows from how far all of them are spread. */
const DRAWS_OF_TAIL = 5;

/** What means differ by, where the owners were others: drawn again and again from those there are. */
function differenceOfMeans({ baseline, variant }: { baseline: Tallies; variant: Tallies }, level: number): Interval {
  const random = mulberry(SEED);
  const value = ratioOf([...variant.values()]) - ratioOf([...baseline.values()]);
  const pairs = [...baseline].flatMap(([owner, tally]) => {
    const other = variant.get(owner);
    return other === undefined ? [] : [{ tally, other }];
  });
  const arePaired = pairs.length === baseline.size && pairs.length === variant.size;
  const [b, v] = [[...baseline.values()], [...variant.values()]];
  const draws = drawnAgain(() => {
    if (!arePaired) return ratioOf(drawn(v, random)) - ratioOf(drawn(b, random));
    const some = drawn(pairs, random);
    return ratioOf(some.map(({ other }) => other)) - ratioOf(some.map(({ tally }) => tally));
  });
  const tail = (1 - level) / 2;
  if (tail * DRAWS < DRAWS_OF_TAIL) {
    const far = quantileOf(1 - tail, Math.min(baseline.size, variant.size) - 1) * spreadOf(draws);
    return { value, low: value - far, high: value + far };
  }
  return { value, low: atQuantile(draws, tail), high: atQuantile(draws, 1 - tail) };
}

/** In order. */
const drawnAgain = (draw: () => number): readonly number[] => Array.from({ length: DRAWS }, draw).sort((x, y) => x - y);
const atQuantile = (draws: readonly number[], q: number): number => draws[Math.round(q * (draws.length - 1))] as number;

/** The standard deviation. */
function spreadOf(values: readonly number[]): number {
  const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
  return Math.sqrt(values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (values.length - 1));
}

const ratioOf = (tallies: readonly Tally[]): number => figureValue(addTallies(tallies)) ?? 0;

const drawn = <T>(all: readonly T[], random: () => number): readonly T[] =>
  all.flatMap(() => all[Math.floor(random() * all.length)] ?? []);

/** Numbers as if by chance, always the same ones: 0 ≤ n < 1. */
export function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Of Student's distribution, by Cornish and Fisher: with few owners intervals are wider. */
function quantileOf(p: number, freedom: number): number {
  const z = normalQuantile(p);
  return z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2);
}

/** Of the normal distribution, for p > 0.5; exact to 0.0005 (Abramowitz and Stegun 26.2.23). */
function normalQuantile(p: number): number {
  const t = Math.sqrt(-2 * Math.log(1 - p));
  const above = 2.515517 + 0.802853 * t + 0.010328 * t ** 2;
  return t - above / (1 + 1.432788 * t + 0.189269 * t ** 2 + 0.001308 * t ** 3);
}

/**
 * worse: beyond the margin, and not by chance. unclear: it may be, there is too little to tell. fine: at most the margin worse.
 */
export type FigureVerdict = 'fine' | 'worse' | 'unclear';

export function verdictOf(comparison: Comparison, margin: Margin = kindOf(comparison.figure).margin): FigureVerdict {
  const { difference, baseline } = comparison;
  if (difference === null || baseline === null) return 'unclear';
  const most = margin.by * (margin.relative === true ? Math.abs(baseline) : 1);
  const { worse } = kindOf(comparison.figure);
  const { value, low, high } = difference;
  const falls = { by: -value, least: -high, most: -low };
  const rises = { by: value, least: low, most: high };
  const ways = worse === 'lower' ? [falls] : worse === 'higher' ? [rises] : [falls, rises];
  if (ways.some(({ by, least }) => by > most && least > 0)) return 'worse';
  return ways.every((way) => way.most <= most) ? 'fine' : 'unclear';
}

export interface DriftedFigure extends Comparison {
  readonly verdict: FigureVerdict;
}

/** What changed lately in how consolidations go: a stretch of time against the one before it. */
export interface Drift {
  readonly figures: readonly DriftedFigure[];
  /** What people and outcomes were against. */
  readonly opinions: readonly DriftedOpinion[];
  /** How many consolidations each chat model has made, of those that were read; the most used one first. */
  readonly models: readonly { readonly model: string; readonly before: number; readonly recent: number }[];
}

interface DriftedOpinion {
  readonly of: keyof Opinions | 'consolidations';
  readonly before: Tally;
  readonly recent: Tally;
}

/** `model`: of that chat model alone; null: of all. */
export function driftOf(before: MeasuredStretch, recent: MeasuredStretch, model: string | null): Drift {
  const asked = ({ consolidations }: MeasuredStretch): readonly MeasuredRow[] =>
    consolidations.filter((row) => model === null || row.model === model);
  const [old, young] = [asked(before), asked(recent)];
  const groupOf = groups();
  const owners = (rows: readonly MeasuredRow[]): readonly OwnerFigures[] =>
    rows.map(({ lane, figures }) => ({ owner: groupOf(lane), figures }));
  const opinion = (of: keyof Opinions): DriftedOpinion => ({
    of,
    before: before.opinions[of],
    recent: recent.opinions[of],
  });
  return {
    figures: compare(owners(old), owners(young)).map((one) => ({ ...one, verdict: verdictOf(one) })),
    opinions: [
      { of: 'consolidations', before: undone(old), recent: undone(young) },
      opinion('reviews'),
      opinion('ratings'),
      opinion('outcomes'),
    ],
    models: modelsOf(before.consolidations, recent.consolidations),
  };
}

/** Intervals are drawn over so many groups of owners at most, so that nobody waits long for them. */
const GROUPS = 100;

function groups(): (lane: string) => string {
  const places = new Map<string, number>();
  return (lane) => {
    const place = places.get(lane) ?? places.size;
    places.set(lane, place);
    return String(place % GROUPS);
  };
}

const undone = (rows: readonly MeasuredRow[]): Tally => ({
  part: rows.filter((row) => row.undone).length,
  of: rows.length,
});

function modelsOf(before: readonly MeasuredRow[], recent: readonly MeasuredRow[]): Drift['models'] {
  const count = (rows: readonly MeasuredRow[], model: string): number =>
    rows.filter((row) => row.model === model).length;
  const names = [...new Set([...recent, ...before].map(({ model }) => model))];
  return names
    .map((model) => ({ model, before: count(before, model), recent: count(recent, model) }))
    .sort((a, b) => b.recent + b.before - a.recent - a.before);
}
