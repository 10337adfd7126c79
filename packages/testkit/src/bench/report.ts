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

/** What a bench found. */
export interface Found {
  /** What was measured, in words: sizes, and what it ran on. */
  readonly title: string;
  readonly figures: readonly Figure[];
  readonly verdicts: readonly Verdict[];
  /** What a reader should know, such as what limits a figure. */
  readonly remarks: readonly string[];
}

const MISSES_SHOWN = 5;

/** For people: what was measured, then what must hold. */
export function tableOf({ title, figures, verdicts, remarks }: Found): string {
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
function shown(value: number): string {
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
