/** How well one question was answered. */
export interface Found {
  /** The 1-based rank of each gold text among the results; null where it is not there. */
  readonly ranks: readonly (number | null)[];
}

export const DEPTHS = [1, 5, 10, 20] as const;
type Depth = (typeof DEPTHS)[number];

export interface Measures {
  readonly questions: number;
  /** Share of questions of which at least one gold text is among the first k. */
  readonly any: Readonly<Record<Depth, number>>;
  /** Mean share of a question's gold texts among the first k: never more than `any`. */
  readonly share: Readonly<Record<Depth, number>>;
  /** Mean of 1 ÷ the rank of the first gold text; 0 where none was found. */
  readonly mrr: number;
}

export function measuresOf(answers: readonly Found[]): Measures {
  const at = (depth: Depth, of: (within: number, all: number) => number): number =>
    mean(answers.map(({ ranks }) => of(ranks.filter((rank) => rank !== null && rank <= depth).length, ranks.length)));
  return {
    questions: answers.length,
    any: byDepth((depth) => at(depth, (within) => Number(within > 0))),
    share: byDepth((depth) => at(depth, (within, all) => within / all)),
    mrr: mean(answers.map(({ ranks }) => Math.max(0, ...ranks.map((rank) => (rank === null ? 0 : 1 / rank))))),
  };
}

/**
 * How well a figure distinguishes the positive from the negative: the chance that a positive has more of it than a negative, equal
 * ones counting half. 0.5 means nothing. null where there is nothing to distinguish.
 */
export function auroc(positive: readonly number[], negative: readonly number[]): number | null {
  if (positive.length === 0 || negative.length === 0) return null;
  const all = [...positive.map((figure) => ({ figure, is: 1 })), ...negative.map((figure) => ({ figure, is: 0 }))];
  const byFigure = [...Map.groupBy(all, ({ figure }) => figure)].sort((a, b) => a[0] - b[0]);
  let [below, pairs] = [0, 0];
  for (const [, same] of byFigure) {
    const positives = same.filter(({ is }) => is === 1).length;
    const negatives = same.length - positives;
    pairs += positives * (below + negatives / 2);
    below += negatives;
  }
  return pairs / (positive.length * negative.length);
}

const byDepth = (of: (depth: Depth) => number): Readonly<Record<Depth, number>> => ({
  1: of(1),
  5: of(5),
  10: of(10),
  20: of(20),
});

const mean = (figures: readonly number[]): number =>
  figures.length === 0 ? 0 : figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
