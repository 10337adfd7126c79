import { type HistoryEvent, PostSearch, SearchResult } from '@slowwave/contracts';
import {
  eventsInApp,
  inApp,
  type MemoryEvent,
  type Message,
  type Millis,
  type OwnedIds,
  ownerOf,
  type ScoredHit,
  saysAt,
  scopeOf,
  type Told,
} from '@slowwave/engine';
import { ownApp, refuseForOneApp } from '@slowwave/http';
import type { z } from 'zod';
import { routesOf, type SearchDeps } from './deps.ts';
import { explained } from './explain.ts';
import { find, type RerankedHit, ranked, reranked, rerankerFor } from './find-and-rank.ts';
import { refuseWithoutRewriter, rewritten } from './query-models.ts';
import {
  type Asked,
  askerOf,
  type Deadline,
  deadlineOf,
  emptyQuery,
  filterOf,
  LATE,
  lateNote,
  livingLane,
  type Question,
} from './question.ts';
import { receiptFor, refuseUntraced } from './receipts.ts';
import { NO_RELATIONS, relationsFor } from './relations.ts';
import { historyView, hitView, messageHitView, relationHitView, sourceView, speakersOf } from './views.ts';

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

/** The most events per memory; older ones are in its history. */
const HISTORY_MAX = 50;

interface Asking {
  readonly question: Question;
  readonly deadline: Deadline;
}

interface Best {
  readonly memories: readonly RerankedHit[];
  readonly messages: readonly ScoredHit[];
}

/** The results with everything in `include`. Each kind is read from the ledger in one call for all results. */
async function addTo(deps: SearchDeps, asking: Asking, best: Best) {
  const { body } = asking.question;
  const wanted = (what: PostSearch['include'][number]): boolean => body.include.includes(what);
  const now = deps.tools.now();
  const ids = best.memories.flatMap(({ hit }) => hit.point.sourceIds);
  const [said, histories, messages] = await Promise.all([
    wanted('sources') ? around(deps, asking, { ids, before: body.before, after: body.after }) : null,
    wanted('history') ? historiesOf(deps, asking, best) : null,
    wanted('messages') ? around(deps, asking, { ids: best.messages.map(idOf) }) : null,
  ]);
  const results = best.memories.map((ranked) => ({
    ...basicView(ranked, body, now),
    ...(isThere(said) && { sources: sourcesIn(said, ranked) }),
    ...(isThere(histories) && { history: histories.get(idOf(ranked)) ?? [] }),
  }));
  const missing = [
    ...(said === LATE ? [lateNote('sources')] : []),
    ...(histories === LATE ? [lateNote('histories')] : []),
    ...(messages === LATE ? [lateNote('messages')] : []),
  ];
  const shown = isThere(messages) ? messagesIn(messages, best.messages, body) : [];
  return { results, ...(wanted('messages') && { messages: shown }), missing };
}

const isThere = <T>(read: T | typeof LATE | null): read is T => read !== null && read !== LATE;

const idOf = ({ hit }: ScoredHit): string => hit.point.memoryId;

type Said = ReadonlyMap<string, readonly Message[]>;

/** Messages with their neighbours, limited to one app if the search is. */
async function around(
  { ledger }: SearchDeps,
  { question, deadline }: Asking,
  { ids, before = 0, after = 0 }: { ids: readonly string[] } & Pick<PostSearch, 'before' | 'after'>,
): Promise<Said | typeof LATE> {
  if (ids.length === 0) return new Map();
  const reach = { before, after, appId: question.body.app_id ?? null };
  return deadline.within(() => ledger.lookups.around(owned(question, ids), reach));
}

async function historiesOf(
  { ledger }: SearchDeps,
  { question, deadline }: Asking,
  { memories }: Best,
): Promise<ReadonlyMap<string, HistoryEvent[]> | typeof LATE> {
  if (memories.length === 0) return new Map();
  const ids = [...new Set(memories.map(idOf))];
  const { app, tenant } = question;
  return deadline.within(async () => {
    const histories = await ledger.lookups.histories(owned(question, ids), HISTORY_MAX);
    if (app === null) return shown(histories);
    const known = (await ledger.memories.many(tenant, ids)).flatMap((memory) => inApp(memory, app) ?? []);
    return shown(new Map(known.map((memory) => [memory.id, eventsInApp(memory, histories.get(memory.id) ?? [], app)])));
  });

  async function shown(histories: ReadonlyMap<string, readonly MemoryEvent[]>) {
    const view = historyView(await speakersOf({ ledger }, tenant, [...histories.values()].flat()));
    return new Map([...histories].map(([id, events]) => [id, events.map(view)]));
  }
}

const owned = ({ tenant, body }: Question, ids: readonly string[]): OwnedIds => ({
  tenant,
  owner: ownerOf(scopeOf(body)),
  ids,
});

const basicView = ({ hit, score, relative, rerankScore }: RerankedHit, body: PostSearch, now: Millis) => ({
  ...hitView(hit.point),
  score,
  ...(rerankScore !== undefined && { rerank_score: rerankScore }),
  ...(body.latest_only === false && { latest: saysAt(hit.point, now) }),
  ...scoresOf({ hit, relative }, body),
});

const scoresOf = ({ hit, relative }: Pick<ScoredHit, 'hit' | 'relative'>, { include }: PostSearch) =>
  include.includes('scores') ? { scores: { vector: hit.vectorScore, keyword: hit.keywordScore, relative } } : {};

/** The sources of a version and their neighbours, each once, in order. */
function sourcesIn(said: Said, { hit: { point } }: ScoredHit) {
  const near = point.sourceIds.flatMap((id) => said.get(id) ?? []);
  const once = [...new Map(near.map((message) => [message.id, message])).values()];
  const sorted = once.sort((a, b) => a.saidAt.seq - b.saidAt.seq);
  return sorted.map((message) => sourceView(message, point.sourceIds.includes(message.id)));
}

/** The found messages as in the ledger; deleted ones are omitted. */
function messagesIn(said: Said, found: readonly ScoredHit[], body: PostSearch) {
  return found.flatMap((ranked) => {
    const { hit, score } = ranked;
    const message = said.get(idOf(ranked))?.find(({ id }) => id === idOf(ranked));
    if (message === undefined) return [];
    return [{ ...messageHitView(message, hit.point.scope), score, ...scoresOf(ranked, body) }];
  });
}
