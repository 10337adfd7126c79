import { normaliseText } from '@slowwave/engine';
import { type Api, each } from '../../api.ts';
import type { AskedQuestion, Corpus } from './corpus.ts';

/** One question and what a search said to it. */
export interface Answer extends Found {
  readonly question: AskedQuestion;
  /** The best of each score among the results; null where no result has it. */
  readonly keyword: number | null;
  readonly vector: number | null;
  readonly score: number | null;
  readonly tookMs: number;
  /** Whether the search said that it may be incomplete. */
  readonly degraded: readonly string[];
}

interface Result {
  readonly memory: string;
  readonly score: number;
  readonly scores: { readonly vector: number | null; readonly keyword: number | null };
  readonly sources: readonly { readonly content: string; readonly is_source: boolean }[];
}

interface SearchAnswer {
  readonly results: readonly Result[];
  readonly took_ms: number;
  readonly degraded?: readonly string[];
}

interface Questioning {
  readonly api: Api;
  readonly corpus: Corpus;
  readonly userOf: (user: string) => string;
  readonly mode: string;
  readonly progress: (text: string) => void;
}

/** Asks every question of the user it is about. */
export function question({ api, corpus, userOf, mode, progress }: Questioning): Promise<readonly Answer[]> {
  let asked = 0;
  return each(corpus.questions, async (one) => {
    const answer = await api.post<SearchAnswer>('/v1/search', {
      query: one.text,
      user_id: userOf(one.user),
      top_k: Math.max(...DEPTHS),
      cut: 'none',
      mode,
      include: ['scores', 'sources'],
    });
    asked += 1;
    progress(`asked ${asked} of ${corpus.questions.length} questions`);
    return answerOf(one, answer);
  });
}

function answerOf(one: AskedQuestion, { results, took_ms, degraded = [] }: SearchAnswer): Answer {
  const texts = results.map(({ memory, sources }) => [
    normaliseText(memory),
    ...sources.filter(({ is_source }) => is_source).map(({ content }) => normaliseText(content)),
  ]);
  return {
    question: one,
    ranks: one.gold.map((gold) => rankOf(normaliseText(gold), texts)),
    keyword: highest(results.map(({ scores }) => scores.keyword)),
    vector: highest(results.map(({ scores }) => scores.vector)),
    score: highest(results.map(({ score }) => score)),
    tookMs: took_ms,
    degraded,
  };
}

function rankOf(gold: string, texts: readonly (readonly string[])[]): number | null {
  const i = texts.findIndex((of) => of.includes(gold));
  return i === -1 ? null : i + 1;
}

const highest = (scores: readonly (number | null)[]): number | null => {
  const there = scores.filter((score) => score !== null);
  return there.length === 0 ? null : Math.max(...there);
};

/** How well one question was answered. */
interface Found {
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
