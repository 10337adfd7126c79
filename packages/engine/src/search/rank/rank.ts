import type { IndexHit } from '../../ports/search-index.ts';
import { compareSaid } from '../../words.ts';
import { compareIds } from '../fuse.ts';
import { asking } from './asking.ts';
import { confidence } from './confidence.ts';
import { feedback } from './feedback.ts';
import { freshness } from './freshness.ts';
import { fusion } from './fusion.ts';
import type { RankQuestion } from './question.ts';
import { sitting } from './sitting.ts';
import { speaker } from './speaker.ts';
import { subject } from './subject.ts';
import { time } from './time.ts';

export interface RankedHit {
  readonly hit: IndexHit;
  /**
   * 0…1, falling: how sure it is that the question is answered at all, times how well this hit fits compared with the first.
   * Of a pure vector search the cosine. What a threshold is held against.
   */
  readonly score: number;
  /** How well the hit fits compared with the first one, 0…1. Orders; says nothing about whether anything answers. */
  readonly relative: number;
}

/** What puts a hit before or behind others, beside the scores of the legs. Each was measured alone: docs/retrieval.md. */
export const FACTORS = ['speaker', 'subject', 'asking', 'time', 'feedback', 'sitting', 'freshness'] as const;
export type FactorName = (typeof FACTORS)[number];

/** The hits of one question in their final order. */
export const rank = (question: RankQuestion, hits: readonly IndexHit[]): RankedHit[] => rankBy(FACTORS, question, hits);

/** The same with some of the factors, to see what each of them does. */
export function rankBy(factors: readonly FactorName[], question: RankQuestion, hits: readonly IndexHit[]): RankedHit[] {
  const found = hits.filter((hit) => isFound(question, hit)).sort(compareHits);
  const sums = sumsOf(new Set(factors), question, found);
  const order = orderOf(sums);
  const top = sums[order[0] ?? 0] ?? 0;
  const sure = question.mode === 'vector' ? null : confidence(question, found, order);
  return order.flatMap((i) => {
    const hit = found[i];
    if (hit === undefined) return [];
    const relative = top <= 0 ? 0 : Math.max(0, sums[i] ?? 0) / top;
    return [{ hit, relative, score: sure === null ? cosineOf(hit) : sure * relative }];
  });
}

function isFound({ mode }: RankQuestion, hit: IndexHit): boolean {
  const keyword = mode !== 'vector' && hit.keywordScore !== null;
  const vector = mode !== 'keyword' && hit.vectorScore !== null;
  return keyword || vector;
}

/** A pure vector search is ordered by its vectors. */
function sumsOf(
  factors: ReadonlySet<FactorName>,
  question: RankQuestion,
  hits: readonly IndexHit[],
): readonly number[] {
  const fused = fusion(question, hits);
  if (question.mode === 'vector') return fused;
  const add = (sums: readonly number[], name: FactorName, factor: () => readonly number[]): readonly number[] => {
    if (!factors.has(name)) return sums;
    const added = factor();
    return sums.map((sum, i) => sum + (added[i] ?? 0));
  };
  const spoken = add(fused, 'speaker', () => speaker(question, hits));
  const about = add(spoken, 'subject', () => subject(question, hits));
  const told = add(about, 'asking', () => asking(hits));
  const timed = add(told, 'time', () => time(question, hits));
  const fed = add(timed, 'feedback', () => feedback(question, hits, timed));
  const near = add(fed, 'sitting', () => sitting(hits, fed));
  return add(near, 'freshness', () => freshness(question, hits));
}

/** Highest first; equal ones as they come. */
const orderOf = (sums: readonly number[]): readonly number[] =>
  sums.map((_, i) => i).sort((a, b) => (sums[b] ?? 0) - (sums[a] ?? 0) || a - b);

/** Of equal ones the newest first; then by id, the same on every machine. */
const compareHits = (a: IndexHit, b: IndexHit): number =>
  compareSaid(b.point.saidAt, a.point.saidAt) || compareIds(a.point, b.point);

/** What points away is as far as what was not found. */
const cosineOf = ({ vectorScore }: IndexHit): number => Math.min(1, Math.max(0, vectorScore ?? 0));
