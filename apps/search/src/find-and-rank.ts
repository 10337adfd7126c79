import { setImmediate } from 'node:timers/promises';
import type { PostSearch } from '@slowwave/contracts';
import {
  asEngineError,
  besideOwner,
  boostRelated,
  type CutMade,
  cutAt,
  cutText,
  type Filter,
  type FoundRelation,
  filterableOf,
  type GraphQuestion,
  hitsInApp,
  type IndexHit,
  type IndexQuery,
  idListsOf,
  idsAsked,
  isUnder,
  type Judgement,
  judge,
  type LaneId,
  type Memory,
  matches,
  modelReranker,
  nameOfHit,
  ownerOf,
  queriesInApp,
  type RankQuestion,
  type Relevance,
  type Reranker,
  rank,
  readGraph,
  type ScoredHit,
  scopeOf,
  scored,
  withBeyond,
} from '@slowwave/engine';
import { problem } from '@slowwave/http';
import type { SearchDeps } from './deps.ts';
import { type Asked, type Deadline, deadlineOf, LATE, lateNote, type Question, wordsOf } from './question.ts';

// From a question to hits in their order: both legs of the search, ranking, and reranking.

/** Each leg returns more than is shown, so that results in the middle of both legs are not missed. */
const LEG_FACTOR = 3;
const LEG_MIN = 80;

export interface Found {
  readonly memories: readonly IndexHit[];
  /** Raw messages, if requested. */
  readonly messages: readonly IndexHit[];
  /** What is missing, and why. */
  readonly missing: readonly string[];
}

/** The results of both legs of a search. With a time limit they run separately, so that a late one can be omitted. */
export async function find(deps: SearchDeps, question: Asked, deadline: Deadline): Promise<Found> {
  if (deps.messagesInIndex === 'off' && question.body.include.includes('messages')) throw noMessages();
  const { mode, timeout_ms: limit } = question.body;
  if (mode === 'hybrid' && limit !== undefined) return findApart(deps, question, deadline);
  const found = await deadline.within((signal) => findTogether(deps, question, signal));
  if (found === LATE) throw tooLate(question);
  return found;
}

/** Without the model, a hybrid search still finds keywords; a vector search fails. */
async function findTogether(deps: SearchDeps, question: Asked, signal: AbortSignal): Promise<Found> {
  const { query, mode } = question.body;
  const words = mode === 'vector' ? null : wordsOf(query);
  if (mode === 'keyword') return asked(deps, question, { ...NO_LEGS, terms: words });
  const vector = await vectorOf(deps, question, signal);
  if (vector instanceof Float32Array) return asked(deps, question, { vector, terms: words });
  if (mode === 'vector') throw vector.error;
  const found = await asked(deps, question, { vector: null, terms: words });
  return { ...found, missing: [vector.missing] };
}

async function findApart(deps: SearchDeps, question: Asked, deadline: Deadline): Promise<Found> {
  const [byMeaning, byWords] = await Promise.all([
    deadline.within(async (signal) => {
      const vector = await vectorOf(deps, question, signal);
      if (vector instanceof Float32Array) return asked(deps, question, { ...NO_LEGS, vector });
      return { ...NOTHING, missing: [vector.missing] };
    }),
    deadline.within(() => asked(deps, question, { ...NO_LEGS, terms: wordsOf(question.body.query) })),
  ]);
  if (byMeaning === LATE && byWords === LATE) throw tooLate(question);
  return together(
    byMeaning === LATE ? late('vector search') : byMeaning,
    byWords === LATE ? late('keyword search') : byWords,
  );
}

const NOTHING: Found = { memories: [], messages: [], missing: [] };
const late = (what: string): Found => ({ ...NOTHING, missing: [lateNote(what)] });

const noMessages = () =>
  problem('not_configured', 'messages are not indexed; set SLOWWAVE_INDEX_MESSAGES, or remove messages from include', {
    errors: [{ path: 'include', message: 'messages are not indexed' }],
  });

const tooLate = ({ body }: Question) =>
  problem(
    'timed_out',
    `nothing was found within timeout_ms (${body.timeout_ms}); increase timeout_ms, or use mode "keyword", which ` +
      'needs no model',
  );

type NoVector = { readonly error: unknown; readonly missing: string };

async function vectorOf(
  deps: SearchDeps,
  { tenant, body: { query } }: Question,
  signal: AbortSignal,
): Promise<Float32Array | NoVector> {
  try {
    return await deps.embedQuery({ tenant, text: query }, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const { code } = asEngineError(error);
    deps.log.warn({ err: error }, 'could not embed query; keyword search only');
    return { error, missing: `the query could not be embedded (${code}); keyword search only` };
  }
}

type Legs = Pick<IndexQuery, 'vector' | 'terms'>;
const NO_LEGS: Legs = { vector: null, terms: null };

/** One query of the index, for memories and, if requested, messages. */
async function asked(deps: SearchDeps, question: Asked, legs: Legs): Promise<Found> {
  const lane = (await question.living)?.id;
  if (lane === undefined) return NOTHING;
  const spoken = question.body.include.includes('messages') ? legsOfMessages(deps, legs) : null;
  const remembered = indexQuery(deps, question, { ...legs, lane, shelf: 'memories' });
  const said = spoken === null ? [] : [indexQuery(deps, question, { ...spoken, lane, shelf: 'messages' })];
  if (question.app !== null) {
    const [messages = []] = said.length === 0 ? [] : await deps.index.search(said);
    return { memories: await findInApp(deps, remembered, question.app), messages, missing: [] };
  }
  const [memories = [], messages = []] = await deps.index.search([await knowingAll(deps, remembered), ...said]);
  return { memories, messages, missing: [] };
}

/** The growth of the limit while too few results fit, until there are no more. */
const MORE = 8;

/** The same for one app: the index finds them, and the ledger has what was said in the app. */
async function findInApp(
  { ledger, index }: SearchDeps,
  query: IndexQuery,
  appId: string,
): Promise<readonly IndexHit[]> {
  const beyond = await ledger.saidIds.beyondIndex(query.lane, [{ kind: 'app', id: appId }]);
  for (let limit = query.limit; ; limit *= MORE) {
    const answers = await index.search(queriesInApp({ ...query, limit }, appId, beyond));
    const found = answers.flat();
    const ids = [...new Set(found.map(({ point }) => point.memoryId))];
    const memories = ids.length === 0 ? [] : await ledger.memories.many(query.tenant, ids);
    const hits = hitsInApp(found, memories, { appId, query });
    if (hits.length >= query.limit || answers.every((some) => some.length < limit)) return hits;
  }
}

/** Of a memory that was said under many ids the index has the newest: the ledger knows which memories stand under others. */
async function knowingAll({ ledger }: SearchDeps, query: IndexQuery): Promise<IndexQuery> {
  const ids = idsAsked(query);
  if (ids.length === 0) return query;
  return { ...query, ...withBeyond(query, await ledger.saidIds.beyondIndex(query.lane, ids)) };
}

/** Messages may be indexed without vectors. null: there is nothing to search them by. */
function legsOfMessages({ messagesInIndex }: SearchDeps, { vector, terms: words }: Legs): Legs | null {
  const legs = { vector: messagesInIndex === 'hybrid' ? vector : null, terms: words };
  return legs.vector === null && words === null ? null : legs;
}

function indexQuery(
  deps: SearchDeps,
  { tenant, body, where }: Question,
  legs: Legs & Pick<IndexQuery, 'lane' | 'shelf'>,
): IndexQuery {
  const owner = ownerOf(scopeOf(body));
  return {
    tenant,
    owner,
    filter: besideOwner(scopeOf(body)),
    visibility: visibilityOf(body, deps.tools.now()),
    ...legs,
    where,
    wide: true,
    limit: Math.max(LEG_MIN, body.top_k * LEG_FACTOR),
  };
}

function visibilityOf({ as_of, latest_only = true }: PostSearch, now: number): IndexQuery['visibility'] {
  const at = as_of === undefined ? null : Date.parse(as_of);
  if (!latest_only) return { kind: 'every', begunBy: at };
  return at === null ? { kind: 'live', now } : { kind: 'as_of', at };
}

/** The results of both legs, each point once. */
function together(byMeaning: Found, byWords: Found): Found {
  return {
    memories: merged(byMeaning.memories, byWords.memories),
    messages: merged(byMeaning.messages, byWords.messages),
    missing: [...byMeaning.missing, ...byWords.missing],
  };
}

function merged(byMeaning: readonly IndexHit[], byWords: readonly IndexHit[]): IndexHit[] {
  const hits = new Map(byMeaning.map((hit) => [nameOfHit(hit), hit]));
  for (const hit of byWords) {
    const other = hits.get(nameOfHit(hit));
    hits.set(nameOfHit(hit), other === undefined ? hit : { ...other, keywordScore: hit.keywordScore });
  }
  return [...hits.values()];
}

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
  // Most searches want none, and to rank nothing takes as long as to read the question again.
  if (messages.length === 0) return [];
  const inOrder = rank(question, messages);
  const read = inOrder.map((one) => ({ ...one, hit: cutText(one.hit, READ_MAX) }));
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

/** The time limit of relations for searches without a time limit, in ms. */
const RELATIONS_LIMIT_MS = 2_000;
const SLOW = `relations omitted: not read within ${RELATIONS_LIMIT_MS} ms`;
/** How many more relations are read if they are filtered, so that enough remain. */
const NARROWED_FACTOR = 5;

/** The refusal for a key for one app. */
export const NO_RELATIONS = 'relations are shared by all apps, so remove them';

interface Related {
  readonly asked: boolean;
  readonly relations: readonly FoundRelation[];
  /** What is missing, and why. */
  readonly missing: readonly string[];
}

/** The relations that a search requests, read while memories are searched. */
export async function relationsFor(deps: SearchDeps, question: Asked, deadline: Deadline): Promise<Related> {
  if (!question.body.include.includes('relations')) return { asked: false, relations: [], missing: [] };
  const limit = Math.min(RELATIONS_LIMIT_MS, question.body.timeout_ms ?? RELATIONS_LIMIT_MS);
  const own = deadlineOf(limit, deadline.signal);
  try {
    const relations = await own.within(async (signal) => {
      await afterMemories();
      return read(deps, question, signal);
    });
    if (relations === LATE) return without(limit === question.body.timeout_ms ? lateNote('relations') : SLOW);
    return { asked: true, relations, missing: [] };
  } catch (error) {
    deps.log.warn({ err: error }, 'could not read relations');
    return without(`relations omitted: could not be read (${asEngineError(error).code})`);
  } finally {
    own.end();
  }
}

/** Lets the memories be searched first: the index then has the owner's data at hand. */
const afterMemories = (): Promise<void> => setImmediate();

const without = (reason: string): Related => ({ asked: true, relations: [], missing: [reason] });

async function read(deps: SearchDeps, question: Asked, signal: AbortSignal): Promise<readonly FoundRelation[]> {
  const { top_k: limit } = question.body;
  const lane = (await question.living)?.id;
  if (lane === undefined) return [];
  const narrow = narrowingOf(question);
  if (narrow === null) return readGraph(deps, graphQuestion(deps, { question, lane, signal, limit }));
  const found = await readGraph(deps, graphQuestion(deps, { question, lane, signal, limit: limit * NARROWED_FACTOR }));
  return (await narrowed(deps, { found, question, narrow })).slice(0, limit);
}

interface Reading {
  readonly question: Question;
  readonly lane: LaneId;
  readonly signal: AbortSignal;
  readonly limit: number;
}

function graphQuestion(deps: SearchDeps, { question, lane, signal, limit }: Reading): GraphQuestion {
  const { tenant, body } = question;
  return {
    tenant,
    owner: ownerOf(scopeOf(body)),
    lane,
    text: body.query,
    terms: wordsOf(body.query),
    vector: body.mode === 'keyword' ? Promise.resolve(null) : vectorOrNull(deps, question, signal),
    vectors: deps.vectors,
    at: body.as_of === undefined ? null : Date.parse(body.as_of),
    ever: body.latest_only === false,
    now: deps.tools.now(),
    limit,
  };
}

/** The same vector as for memories. If there is none, the search of memories reports it, and keywords are used. */
const vectorOrNull = (
  { embedQuery }: SearchDeps,
  { tenant, body }: Question,
  signal: AbortSignal,
): Promise<Float32Array | null> => embedQuery({ tenant, text: body.query }, signal).catch(() => null);

/** The memories that a relation must come from; null: any. */
interface Narrowing {
  fits(memory: Memory): boolean;
}

/**
 * A relation only has an owner. Other ids and filters are checked on its memories, of which one must match. Relations
 * without memories are then omitted.
 */
function narrowingOf({ body, where }: Question): Narrowing | null {
  const owner = ownerOf(scopeOf(body));
  const ids = besideOwner(scopeOf(body));
  if (where === null && Object.keys(ids).length === 0) return null;
  return {
    fits: (memory) =>
      memory.owner.kind === owner.kind &&
      memory.owner.id === owner.id &&
      isUnder(idListsOf(memory), ids) &&
      passes(where, memory),
  };
}

const passes = (where: Filter | null, memory: Memory): boolean =>
  where === null || (memory.versions.length > 0 && matches(where, filterableOf(memory)));

interface Narrowed {
  readonly found: readonly FoundRelation[];
  readonly question: Question;
  readonly narrow: Narrowing;
}

async function narrowed({ ledger }: SearchDeps, { found, question, narrow }: Narrowed): Promise<FoundRelation[]> {
  const ids = [...new Set(found.flatMap(({ memoryIds }) => memoryIds))];
  const memories = ids.length === 0 ? [] : await ledger.memories.many(question.tenant, ids);
  const fitting = new Set(memories.filter(narrow.fits).map(({ id }) => id));
  return found.filter(({ memoryIds }) => memoryIds.some((id) => fitting.has(id)));
}
