import { PostSearch, SearchResult } from '@slowwave/contracts';
import type { Told } from '@slowwave/engine';
import { ownApp, refuseForOneApp } from '@slowwave/http';
import type { z } from 'zod';
import { addTo } from './add.ts';
import { type Deadline, deadlineOf } from './deadline.ts';
import { routesOf, type SearchDeps } from './deps.ts';
import { explained } from './explain.ts';
import { find } from './find.ts';
import { type Asked, askerOf, emptyQuery, filterOf, livingLane, type Question } from './question.ts';
import { ranked, reranked, rerankerFor } from './rank.ts';
import { receiptFor, refuseUntraced } from './receipts.ts';
import { NO_RELATIONS, relationsFor } from './relations.ts';
import { refuseWithoutRewriter, rewritten } from './rewrite.ts';
import { relationHitView } from './views.ts';

const route = routesOf('search');

export const postSearch = route('POST /v1/search', {
  id: 'search',
  summary: 'Search memories by meaning and keywords',
  description:
    'Searches the memories of one owner: the first of user_id, agent_id and run_id that is set. The other ids only ' +
    'filter: a memory is found by every id under which it was said or confirmed. score is the confidence that a result answers the query; scores (on request) contain the raw scores of each search.',
  body: PostSearch,
  answer: SearchResult,
  bounds: { by: 'body', apps: true },
  subject: true,
  asleep: 'read',
  handle: async (deps, { tenant, body, request }) => {
    if (body.query.trim() === '') throw emptyQuery();
    refuseUntraced(request, body);
    refuseWithoutRewriter(deps, body);
    if (body.include.includes('relations')) refuseForOneApp(request, NO_RELATIONS);
    const [where, app] = [filterOf(body.filters), ownApp(request)];
    const living = livingLane(deps, { tenant, body });
    living.catch(() => {});
    const found = await search(deps, { tenant, body, where, app, living, asker: askerOf(request, body) });
    const asking = { route: 'search', tenant, body, question: body.query, app, lane: await living } as const;
    return { ...found, receipt_id: receiptFor(deps, asking, toldIn(found)) };
  },
});

type Result = Omit<z.infer<typeof SearchResult>, 'receipt_id'>;

const toldIn = ({ results, relations = [], messages = [] }: Result): readonly Told[] => [
  ...results.map(({ id, version }) => ({ kind: 'memory', id, version }) as const),
  ...relations.map(({ id }) => ({ kind: 'relation', id }) as const),
  ...messages.map(({ message_id: id }) => ({ kind: 'message', id }) as const),
];

/** Searches the index, ranks the results, and adds what `include` lists. */
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

async function answered(deps: SearchDeps, asked: Question, deadline: Deadline) {
  const { question: given, query, missing: unwritten } = await rewritten(deps, asked, deadline);
  const { body } = given;
  const reranker = rerankerFor(deps, given);
  // Read while the query is embedded; only the index search waits for it.
  const living = given.living ?? livingLane(deps, given);
  living.catch(() => {});
  const question: Asked = { ...given, living };
  const [found, graph, state] = await Promise.all([
    find(deps, question, deadline),
    relationsFor(deps, question, deadline),
    deps.indexState(),
  ]);
  const all = { found, relations: graph.relations };
  const ranking = ranked(deps, question, all);
  const { memories: best, messages } = ranking;
  const ordered = await reranked(deps, { question, deadline, reranker }, best);
  const shown = { memories: ordered.hits.slice(0, body.top_k), messages: messages.slice(0, body.top_k) };
  const [{ missing, ...answer }, why] = await Promise.all([
    addTo(deps, { question, deadline }, shown),
    body.explain === true ? explained(deps, { question, deadline, ...all, ...ranking, shown: shown.memories }) : null,
  ]);
  return {
    ...answer,
    ...(why !== null && { results: answer.results.map((hit, i) => ({ ...hit, explanation: why.hits[i] })) }),
    ...(why !== null && { explanation: why.answer }),
    ...(graph.asked && { relations: graph.relations.map(relationHitView) }),
    ...(query !== undefined && { rewritten_query: query }),
    degraded: [
      ...(state === null ? [] : [state]),
      ...unwritten,
      ...found.missing,
      ...graph.missing,
      ...ordered.missing,
      ...missing,
      ...(why?.missing ?? []),
    ],
  };
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10;
