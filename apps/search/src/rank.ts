import type { PostSearch } from '@slowwave/contracts';
import {
  asEngineError,
  boostRelated,
  type CutMade,
  cutAt,
  type FoundRelation,
  type Judgement,
  judge,
  modelReranker,
  ownerOf,
  type RankQuestion,
  type Relevance,
  type Reranker,
  rank,
  type ScoredHit,
  scopeOf,
  scored,
} from '@slowwave/engine';
import { problem } from '@slowwave/http';
import { type Deadline, LATE, lateNote } from './deadline.ts';
import type { SearchDeps } from './deps.ts';
import type { Found } from './find.ts';
import { type Question, wordsOf } from './question.ts';

interface Ranked {
  readonly memories: readonly ScoredHit[];
  readonly messages: readonly ScoredHit[];
  /** All memories that were found, in their order. */
  readonly all: readonly ScoredHit[];
  /** Whether they answer. */
  readonly judged: Judgement;
  /** null: nothing was cut. */
  readonly cut: CutMade | null;
}

interface AllFound {
  readonly found: Found;
  /** Empty unless requested. */
  readonly relations: readonly FoundRelation[];
}

/**
 * Ranks each shelf. Memories of found relations are boosted; memories below the threshold, or that do not answer, are omitted.
 */
export function ranked(
  deps: Pick<SearchDeps, 'tools' | 'vectors'>,
  { body }: Question,
  { found, relations }: AllFound,
): Ranked {
  const { threshold = 0 } = body;
  const question = rankQuestion(deps, body);
  const inOrder = boostRelated(rank(question, found.memories), relations);
  const judged = judge(question, inOrder);
  const all = scored(question, inOrder, judged);
  const cut = isCut(body) ? cutAt(question, all, judged) : null;
  return {
    memories: (cut?.kept ?? all).filter(({ score }) => score >= threshold),
    messages: ofMessages({ ...question, vectors: { ...deps.vectors, words: deps.vectors.wordsOfMessages } }, found),
    all,
    judged,
    cut,
  };
}

/** Of a message so many characters are read to see whether it answers; the keyword search has read all of it. */
const READ_MAX = 1_000;

function ofMessages(question: RankQuestion, { messages }: Found): readonly ScoredHit[] {
  const inOrder = rank(question, messages);
  const read = inOrder.map(({ hit: { point, ...legs }, ...one }) => ({
    ...one,
    hit: { ...legs, point: { ...point, text: point.text.slice(0, READ_MAX) } },
  }));
  return scored(question, inOrder, judge(question, read));
}

/** A search as its hits are ranked by it. */
export function rankQuestion(
  { tools, vectors }: Pick<SearchDeps, 'tools' | 'vectors'>,
  { query: text, mode, as_of }: PostSearch,
): RankQuestion {
  const at = as_of === undefined ? tools.now() : Date.parse(as_of);
  return { text, terms: wordsOf(text), mode, at, vectors };
}

/** A threshold says itself what is left out, and a reranker sees more than what is known here. */
const isCut = ({ cut, threshold, rerank = false }: PostSearch): boolean =>
  cut === 'auto' || (cut === undefined && threshold === undefined && rerank === false);

/** How many of the best results are reranked; results further down are rarely relevant. */
const RERANKED_MIN = 30;
const RERANKED_MAX = 100;
/** The longest text of a memory, in characters: rerankers read a few hundred words. */
const DOCUMENT_MAX = 2_000;
const QUERY_MAX = 4_000;
/** The time limit of reranking, also for searches without a time limit. */
const RERANK_LIMIT_MS = 10_000;

/** A hit, with its score from the reranker if there is one. */
export interface RerankedHit extends ScoredHit {
  readonly rerankScore?: number;
}

interface Reranked {
  readonly hits: readonly RerankedHit[];
  /** Why they were not reranked. */
  readonly missing: readonly string[];
}

/** The reranker that a search requests; null: none. Throws if it is not configured. */
export function rerankerFor({ reranker, reader }: SearchDeps, { tenant, body, asker }: Question): Reranker | null {
  const { rerank = false } = body;
  if (rerank === false) return null;
  const model = reader && modelReranker({ deps: reader, tenant, owner: ownerOf(scopeOf(body)), asker });
  const found = { true: reranker ?? model, endpoint: reranker, model }[String(rerank)] ?? null;
  if (found === null) throw notConfigured(rerank);
  return found;
}

/** The best results reranked, followed by the others. If reranking fails, the order stays as it is. */
export async function reranked(
  deps: SearchDeps,
  { question, deadline, reranker }: { question: Question; deadline: Deadline; reranker: Reranker | null },
  hits: readonly ScoredHit[],
): Promise<Reranked> {
  if (reranker === null || hits.length === 0) return { hits, missing: [] };
  const asked = hits.slice(0, Math.min(RERANKED_MAX, Math.max(RERANKED_MIN, question.body.top_k)));
  const documents = asked.map(({ hit }) => hit.point.text.slice(0, DOCUMENT_MAX));
  const query = question.body.query.slice(0, QUERY_MAX);
  try {
    const relevance = await deadline.within((signal) =>
      reranker.rerank({ query, documents }, AbortSignal.any([signal, AbortSignal.timeout(RERANK_LIMIT_MS)])),
    );
    if (relevance === LATE) return { hits, missing: [lateNote('reranking')] };
    return { hits: reordered(hits, relevance), missing: [] };
  } catch (error) {
    deps.log.warn({ err: error }, 'could not rerank results');
    return {
      hits,
      missing: [`the results were not reranked (${asEngineError(error).code})`],
    };
  }
}

function reordered(hits: readonly ScoredHit[], relevance: readonly Relevance[]): readonly RerankedHit[] {
  const best = relevance.toSorted((a, b) => b.score - a.score || a.index - b.index);
  const first = best.flatMap(({ index, score }) => {
    const hit = hits[index];
    return hit === undefined ? [] : [{ ...hit, rerankScore: score }];
  });
  const named = new Set(relevance.map(({ index }) => index));
  return [...first, ...hits.filter((_, i) => !named.has(i))];
}

function notConfigured(rerank: PostSearch['rerank']) {
  const wanted = {
    endpoint: 'set SLOWWAVE_RERANK_URL',
    model: 'set SLOWWAVE_CHAT_MODEL (the builtin model cannot rerank)',
    true: 'set SLOWWAVE_RERANK_URL or SLOWWAVE_CHAT_MODEL',
  }[String(rerank)];
  return problem('not_configured', `no reranker is configured; ${wanted}, or remove rerank`, {
    errors: [{ path: 'rerank', message: 'no reranker is configured' }],
  });
}
