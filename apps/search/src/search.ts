import type { PostSearch, SearchResult } from '@slowwave/contracts';
import { type Filter, type LaneId, ownerOf, type ScopeIds, scopeOf, type TenantId } from '@slowwave/engine';
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
  /** The owner's life that is asked about: where it is over, nothing is found. Whichever it lives now, unless given. */
  readonly lane?: LaneId | null;
  /** Aborts when who asks is gone. */
  readonly cancel?: AbortSignal;
}

/** A question, and the owner's life that it is asked of. */
export interface Asked extends Question {
  /** null: the owner has none. */
  readonly living: Promise<LaneId | null>;
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

async function answered(deps: SearchDeps, given: Question, deadline: Deadline) {
  const { body } = given;
  const reranker = rerankerFor(deps, given);
  // Read beside the embedding of the query; whoever asks the index waits for it.
  const living = livingLane(deps, given);
  living.catch(() => {});
  const question: Asked = { ...given, living };
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

/**
 * The lane in which the owner lives: the index may still have what an erased user of the same id had, and only the ledger knows
 * which of the two is asked about. So nothing is searched while the ledger does not answer.
 */
export async function livingLane(
  { ledger }: Pick<SearchDeps, 'ledger'>,
  { tenant, body, lane }: Pick<Question, 'tenant' | 'lane'> & { readonly body: ScopeIds },
): Promise<LaneId | null> {
  const found = await ledger.lanes.find(tenant, ownerOf(scopeOf(body)));
  return found !== null && (lane === undefined || lane === found.id) ? found.id : null;
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10;
