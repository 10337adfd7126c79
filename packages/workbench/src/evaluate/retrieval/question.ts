import { normaliseText } from '@slowwave/engine';
import { type Api, each } from '../../api.ts';
import type { AskedQuestion, Corpus } from './corpus.ts';
import { DEPTHS, type Found } from './measures.ts';

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

export interface Questioning {
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
