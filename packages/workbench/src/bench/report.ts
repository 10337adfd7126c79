import { aligned } from '../aligned.ts';

/** A measured figure, e.g. 12.5 batches/s. */
interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
}

/** Something that must hold. */
export interface Verdict {
  readonly what: string;
  readonly reached: string;
  readonly target: string;
  readonly passed: boolean;
  /** Where it does not hold. */
  readonly misses: readonly string[];
}

/** Ours beside what it is held against, in the same unit and the same run. */
export interface Comparison {
  readonly what: string;
  readonly unit: string;
  readonly ours: Side;
  readonly yardstick: Side;
  /** Which of two is better, ours ÷ yardstick at that. */
  readonly target: { readonly ratio: number; readonly is: 'at most' | 'at least' };
}

interface Side {
  readonly name: string;
  readonly value: number;
}

type Compared = Omit<Comparison, 'target'>;

/** The less the better: the ratio may be so much. */
export const atMost = (ratio: number, compared: Compared): Comparison => ({
  ...compared,
  target: { ratio, is: 'at most' },
});

/** The more the better: the ratio has to be so much. */
export const atLeast = (ratio: number, compared: Compared): Comparison => ({
  ...compared,
  target: { ratio, is: 'at least' },
});

export const ratioOf = ({ ours, yardstick }: Comparison): number => ours.value / yardstick.value;

export const reaches = (one: Comparison): boolean =>
  one.target.is === 'at most' ? ratioOf(one) <= one.target.ratio : ratioOf(one) >= one.target.ratio;

/** What a bench found. */
export interface Found {
  /** What was measured, in words: sizes, and what it ran on. */
  readonly title: string;
  readonly figures: readonly Figure[];
  readonly verdicts: readonly Verdict[];
  readonly comparisons?: readonly Comparison[];
  /** What a reader should know, such as what limits a figure. */
  readonly remarks: readonly string[];
}

/** What must hold, comparisons with it. */
export const verdictsOf = ({ verdicts, comparisons = [] }: Found): readonly Verdict[] => [
  ...verdicts,
  ...comparisons.map((one) => ({
    what: `${one.what}: ${one.ours.name}, against ${one.yardstick.name}`,
    reached: `${shown(one.ours.value)} and ${shown(one.yardstick.value)} ${one.unit}, ${ratioText(ratioOf(one))}`,
    target: `${one.target.is} ${ratioText(one.target.ratio)}`,
    passed: reaches(one),
    misses: [],
  })),
];

/** Three digits that count; of very small ones what part of the whole they are. */
export const ratioText = (ratio: number): string =>
  ratio > SMALL ? `${Number(ratio.toPrecision(3))}×` : `1/${Number((1 / ratio).toPrecision(3))}`;

const SMALL = 0.1;

const MISSES_SHOWN = 5;

/** For people: what was measured, then what must hold. */
export function tableOf(found: Found): string {
  const { title, figures, remarks } = found;
  const verdicts = verdictsOf(found);
  const measured = aligned(figures.map(({ what, value, unit }) => [`  ${what}`, `${shown(value)} ${unit}`.trimEnd()]));
  const held = aligned(
    verdicts.map(({ passed, what, reached, target }) => [
      passed ? '  pass' : '  FAIL',
      what,
      reached,
      `target ${target}`,
    ]),
  );
  const misses = verdicts.flatMap(missesOf);
  const parts = [[title], measured, held, misses, remarks.map((remark) => `  ${remark}`)];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

/** Two digits behind the point of small figures, none behind that of large ones. */
export function shown(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}

function missesOf({ what, misses }: Verdict): string[] {
  if (misses.length === 0) return [];
  const more = misses.length - MISSES_SHOWN;
  return [
    `  ${what}:`,
    ...misses.slice(0, MISSES_SHOWN).map((miss) => `    ${miss}`),
    ...(more > 0 ? [`    … and ${more} more`] : []),
  ];
}

/** The smallest value that so much of all (0 to 1) does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);
