import type { PostSearch, SearchResult } from '@slowwave/contracts';
import type { Filter, TenantId } from '@slowwave/engine';
import type { z } from 'zod';
import { addTo } from './add.ts';
import { type Deadline, deadlineOf } from './deadline.ts';
import type { SearchDeps } from './deps.ts';
import { find } from './find.ts';
import { ranked } from './rank.ts';
import { relationsFor } from './relations.ts';
import { reranked, rerankerFor } from './rerank.ts';
import { relationHitView } from './views.ts';

export interface Question {
  readonly tenant: TenantId;
  readonly body: PostSearch;
  /** The filter of the body, as it was read. */
  readonly where: Filter | null;
  /** Aborts when who asks is gone. */
  readonly cancel?: AbortSignal;
}

type Result = z.infer<typeof SearchResult>;

/** Asks the index, ranks what its legs found, and adds what was asked for. */
export async function search(deps: SearchDeps, question: Question): Promise<Result> {
  const began = performance.now();
  const deadline = deadlineOf(question.body.timeout_ms, question.cancel);
  try {
    const { degraded, ...answer } = await answered(deps, question, deadline);
    return { ...answer, took_ms: tenths(performance.now() - began), ...(degraded.length > 0 && { degraded }) };
  } finally {
    deadline.end();
  }
}

async function answered(deps: SearchDeps, question: Question, deadline: Deadline) {
  const { body } = question;
  const reranker = rerankerFor(deps, question);
  const [found, graph, state] = await Promise.all([
    find(deps, question, deadline),
    relationsFor(deps, question, deadline),
    deps.indexState(),
  ]);
  const { memories: best, messages } = ranked(deps, question, { found, relations: graph.relations });
  const ordered = await reranked(deps, { question, deadline, reranker }, best);
  const shown = { memories: ordered.hits.slice(0, body.top_k), messages: messages.slice(0, body.top_k) };
  const { missing, ...answer } = await addTo(deps, { question, deadline }, shown);
  return {
    ...answer,
    ...(graph.asked && { relations: graph.relations.map(relationHitView) }),
    degraded: [...(state === null ? [] : [state]), ...found.missing, ...graph.missing, ...ordered.missing, ...missing],
  };
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10;
