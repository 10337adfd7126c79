import { type HistoryEvent, PostSearch, type SearchHit, SearchResult } from '@slowwave/contracts';
import {
  type CutMade,
  type Embedder,
  eventsInApp,
  type FoundRelation,
  foundVersions,
  type IndexMarker,
  inApp,
  isoOf,
  isoOrNull,
  type Judgement,
  type Ledger,
  type Memory,
  type MemoryEvent,
  type Message,
  type MessagesInIndex,
  type Millis,
  markerOf,
  nameOfHit,
  type OwnedIds,
  ownerOf,
  reasonsOf,
  relationBoosts,
  type ScoredHit,
  type SearchIndex,
  saysAt,
  scopeOf,
  type Told,
  type Tools,
} from '@slowwave/engine';
import { ownApp, refuseForOneApp } from '@slowwave/http';
import type { z } from 'zod';
import { routesOf, type SearchDeps } from './deps.ts';
import {
  type Found,
  find,
  NO_RELATIONS,
  type RerankedHit,
  ranked,
  rankQuestion,
  relationsFor,
  reranked,
  rerankerFor,
} from './find-and-rank.ts';
import { historyView, hitView, messageHitView, relationHitView, sourceView, speakersOf } from './memories.ts';
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
  refuseWithoutRewriter,
  rewritten,
} from './question.ts';
import { receiptFor, refuseUntraced } from './receipts.ts';

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

type HitExplanation = NonNullable<z.infer<typeof SearchHit>['explanation']>;
type Explanation = NonNullable<z.infer<typeof SearchResult>['explanation']>;

/** An answer, and all that it was chosen from. */
interface Answer {
  readonly question: Question;
  readonly deadline: Deadline;
  readonly found: Found;
  readonly relations: readonly FoundRelation[];
  /** In their order, before anything was left out. */
  readonly all: readonly ScoredHit[];
  readonly judged: Judgement;
  readonly cut: CutMade | null;
  readonly shown: readonly ScoredHit[];
}

/** Why the results are what they are: of each what it got, and where and why they end. */
async function explained(
  deps: SearchDeps,
  answer: Answer,
): Promise<{ readonly answer: Explanation; readonly hits: readonly HitExplanation[]; readonly missing: string[] }> {
  const { question, deadline, all, judged, cut, shown } = answer;
  const why = reasoning(deps, answer);
  const read = await deadline.within(() => versionsBeside(deps, question, shown));
  const others = read === LATE ? () => [] : read;
  const results = new Set(shown.map(({ hit }) => nameOfHit(hit)));
  const least = cut === null ? null : judged?.least;
  const below = all.find(({ hit }) => !results.has(nameOfHit(hit))) ?? null;
  return {
    missing: read === LATE ? [lateNote('versions passed over')] : [],
    hits: shown.map((ranked) => ({ ...why(ranked), passed_over: others(ranked) })),
    answer: {
      cut: cut?.by ?? 'off',
      answered: judged?.answered ?? null,
      answered_least: least?.answered ?? null,
      chance_least: least?.chance ?? null,
      threshold: question.body.threshold ?? null,
      found: all.length,
      below: below && {
        id: below.hit.point.memoryId,
        version: below.hit.point.version,
        memory: below.hit.point.text,
        score: below.score,
        ...why(below),
      },
    },
  };
}

/** What each hit got. The cut and the reasons are of the order before reranking. */
function reasoning(deps: SearchDeps, { question, found, relations, all, judged }: Answer) {
  const reasons = reasonsOf(rankQuestion(deps, question.body), found.memories);
  const related = relationBoosts(relations);
  const chances = new Map(all.map(({ hit, unrated }) => [nameOfHit(hit), judged?.chances[unrated.place] ?? null]));
  const legs = {
    keyword: ranksIn(all, ({ hit }) => hit.keywordScore),
    vector: ranksIn(all, ({ hit }) => hit.vectorScore),
  };
  return ({ hit }: ScoredHit): Omit<HitExplanation, 'passed_over'> => {
    const name = nameOfHit(hit);
    const { fused = 0, boosts = {} } = reasons.get(name) ?? {};
    const relation = related.get(hit.point.memoryId);
    return {
      keyword: legs.keyword.get(name) ?? null,
      vector: legs.vector.get(name) ?? null,
      fused,
      boosts: { ...boosts, ...(relation !== undefined && { relations: relation }) },
      chance: chances.get(name) ?? null,
    };
  };
}

/** The places that hits have in one search. */
function ranksIn(all: readonly ScoredHit[], scoreOf: (ranked: ScoredHit) => number | null) {
  const scored = all.flatMap((ranked) => {
    const score = scoreOf(ranked);
    return score === null ? [] : [{ name: nameOfHit(ranked.hit), score }];
  });
  const best = scored.sort((a, b) => b.score - a.score);
  return new Map(best.map(({ name, score }, i) => [name, { score, rank: i + 1 }]));
}

/** The versions of each result's memory that are not shown for it. */
async function versionsBeside({ ledger }: SearchDeps, { tenant, app }: Question, shown: readonly ScoredHit[]) {
  const ids = [...new Set(shown.map(({ hit }) => hit.point.memoryId))];
  const memories = ids.length === 0 ? [] : await ledger.memories.many(tenant, ids);
  const known = memories.flatMap((memory): Memory[] => {
    const own = app === null ? memory : inApp(memory, app);
    return own === null ? [] : [own];
  });
  const byId = new Map(
    known.map((memory) => [memory.id, foundVersions(memory).toSorted((a, b) => a.number - b.number)]),
  );
  return ({ hit: { point } }: ScoredHit): HitExplanation['passed_over'] =>
    (byId.get(point.memoryId) ?? [])
      .filter(({ number }) => number !== point.version)
      .map(({ number: version, text: memory, validFrom, invalidAt }) => ({
        version,
        memory,
        valid_from: isoOf(validFrom),
        invalid_at: isoOrNull(invalidAt),
      }));
}

// Whether the index can be trusted.

/** The age from which the state is read again in the background, in ms; searches continue with the old one. */
const BELIEVED_MS = 1_000;
/** The age from which a search waits for the new state, in ms. */
const STALE_MS = 10_000;

interface StateDeps {
  readonly index: SearchIndex;
  readonly ledger: Pick<Ledger, 'id' | 'outbox'>;
  readonly embedder: Pick<Embedder, 'fingerprint'>;
  readonly tools: Tools;
  readonly messagesInIndex: MessagesInIndex;
}

/** Returns why the index cannot be trusted, or null. Reads it at most once per second. */
export function indexState(deps: StateDeps): () => Promise<string | null> {
  let known: { readonly state: string | null; readonly at: number } | null = null;
  let asking: Promise<string | null> | null = null;
  const ask = (): Promise<string | null> => {
    asking ??= stateOf(deps)
      .then((state) => {
        known = { state, at: deps.tools.now() };
        return state;
      })
      .finally(() => {
        asking = null;
      });
    return asking;
  };
  return async () => {
    if (known === null) return ask();
    const age = Math.abs(deps.tools.now() - known.at);
    if (age >= STALE_MS) return ask();
    // After a failure the next search reads it again, and the search itself fails anyway.
    if (age >= BELIEVED_MS) ask().catch(() => {});
    return known.state;
  };
}

async function stateOf(deps: StateDeps): Promise<string | null> {
  const { index, ledger } = deps;
  const marker = await index.marker();
  const mine = markerOf({ ...deps, settings: deps });
  // In this order: an index is filled from the outbox before it gets its marker.
  return doubt(marker, mine) ?? filling(ledger);
}

function doubt(found: IndexMarker | null, mine: IndexMarker): string | null {
  if (found === null) return 'the index is being built';
  if (found.ledgerId !== mine.ledgerId) return 'the index belongs to another ledger';
  if (found.fingerprint === mine.fingerprint) return null;
  return 'the index was built with another embedding model or another setting for messages';
}

/** Without the ledger, it is unknown whether the index is complete. */
async function filling({ outbox }: StateDeps['ledger']): Promise<string | null> {
  try {
    return (await outbox.refilling()) ? 'the index is being rebuilt from the ledger: some memories are missing' : null;
  } catch {
    return 'the ledger is not available: the latest writes may be missing';
  }
}
