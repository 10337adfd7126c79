import { Filters, type GraphView, type MemoryView, Metadata, type SearchResult } from '@slowwave/contracts';
import type { App, FastifyRequest } from '@slowwave/http';
import { z } from 'zod';
import { type Ask, isMissingReranker, unsupported } from './ask.ts';
import {
  also,
  Extent,
  Ids,
  idsIn,
  type Json,
  mem0Memory,
  mem0Page,
  mem0Relation,
  momentOf,
  SIZE_USUAL,
  sent,
} from './format.ts';
import { hasOwner, LISTED_MAX, memoriesOf, ownersIn, type Scoped, searchedOwners } from './owners.ts';

/** The owner may be named beside the filters or in them. */
const Which = {
  ...Ids,
  filters: Filters.nullish(),
  metadata: Metadata.nullish(),
  categories: z.array(z.string()).nullish(),
  fields: z.array(z.string()).nullish(),
  enable_graph: z.boolean().nullish(),
  latest_only: z.boolean().nullish(),
  show_expired: z.boolean().nullish(),
  /** With v1.1 the oldest routes answer as the newest do. */
  output_format: z.string().nullish(),
};

const SearchBody = sent({
  ...Which,
  query: z.string(),
  top_k: z.int().nullish(),
  limit: z.int().nullish(),
  threshold: z.number().nullish(),
  rerank: z.boolean().nullish(),
  reference_date: z.unknown().optional(),
});
type SearchBody = z.infer<typeof SearchBody>;

type Found = z.infer<typeof SearchResult>;

/** Of the newest routes, of those before, and of mem0's open-source server. */
export function searchMemories(app: App, ask: Ask): void {
  const answering = (path: string, shape: (found: Answer, body: SearchBody) => unknown): void => {
    app.post(path, { schema: { body: SearchBody } }, async (request) =>
      shape(await search(ask, request, request.body), request.body),
    );
  };
  answering('/v3/memories/search', (found) => found);
  answering('/search', (found) => found);
  for (const path of ['/v1/memories/search', '/v2/memories/search']) {
    answering(path, (found, { output_format }) => (output_format === 'v1.1' ? found : found.results));
  }
}

interface Answer {
  readonly results: readonly object[];
  readonly relations?: readonly object[];
  readonly warning?: string;
}

async function search(ask: Ask, request: FastifyRequest, given: SearchBody): Promise<Answer> {
  const { owners, alone } = await searchedOwners(ask, request, wanted(given));
  const answers: Reranked[] = [];
  for (const owner of owners) answers.push(await searchOf(ask, request, questionOf(given, owner)));
  const found = answers.flatMap(({ results }) => results).sort((a, b) => b.score - a.score);
  const most = given.top_k ?? given.limit ?? Math.max(0, ...answers.map(({ results }) => results.length));
  const relations = answers.flatMap((answer) => answer.relations ?? []);
  return {
    results: shown(found, given).slice(0, most),
    ...(given.enable_graph === true && { relations: relations.map(mem0Relation) }),
    ...warningOf([
      ...(answers.some(({ unranked }) => unranked) ? [UNRANKED] : []),
      ...(alone.length > 0 ? [ALONE] : []),
    ]),
  };
}

const warningOf = (warnings: readonly string[]): Pick<Answer, 'warning'> =>
  warnings.length === 0 ? {} : { warning: warnings.join('; ') };

type Reranked = Found & { readonly unranked?: boolean };

const ALONE =
  'this agent or run has more users than one search can read, so only its own memories were searched; name a user_id';

const UNRANKED = 'no reranker is configured, so the results are ordered as without rerank';

/** mem0 always answers: without a reranker, in the order of the search. */
async function searchOf(ask: Ask, request: FastifyRequest, body: Question): Promise<Reranked> {
  const asked = (question: object) => ask<Found>(request, { method: 'POST', path: '/v1/search', body: question });
  try {
    return await asked(body);
  } catch (error) {
    if (!isMissingReranker(error)) throw error;
    const { rerank: _, ...rest } = body;
    return { ...(await asked(rest)), unranked: true };
  }
}

type Question = Readonly<Record<string, unknown>>;

function questionOf(given: SearchBody, { scope, filters }: Scoped): Question {
  if (given.reference_date != null) throw unsupported('reference_date', 'use POST /v1/search with as_of');
  const { query, rerank, threshold, latest_only } = given;
  const top_k = given.top_k ?? given.limit;
  return {
    ...scope,
    query,
    filters,
    // As mem0 does: as many as asked for.
    cut: 'none',
    ...(top_k != null && { top_k }),
    ...(threshold != null && { threshold }),
    ...(rerank === true && { rerank }),
    ...(latest_only === false && { latest_only }),
    ...(given.enable_graph === true && { include: ['relations'] }),
  };
}

/** Everything that a request says of whose memories are meant, and of which. */
function wanted({ filters, metadata, categories, show_expired, ...given }: z.infer<z.ZodObject<typeof Which>>): Json {
  if (show_expired === true) throw unsupported('show_expired', 'use POST /v1/search with as_of');
  const conditions = [
    idsIn(given),
    filters ?? {},
    ...(metadata ? [{ metadata }] : []),
    ...(categories ? [{ categories: { in: categories } }] : []),
  ].filter((one) => Object.keys(one).length > 0);
  return conditions.length === 1 && conditions[0] !== undefined ? conditions[0] : { AND: conditions };
}

/** Each once, with the fields asked for. */
function shown(
  memories: readonly MemoryView[],
  { fields }: { readonly fields?: readonly string[] | null | undefined },
) {
  const once = new Map(memories.map((memory) => [memory.id, mem0Memory(memory)]));
  return [...once.values()].map((memory) => (fields ? only(memory, fields) : memory));
}

const only = (memory: object, fields: readonly string[]): object =>
  Object.fromEntries(Object.entries(memory).filter(([name]) => name === 'id' || fields.includes(name)));

/** What narrows a list. */
const Narrowing = {
  start_date: z.string().nullish(),
  end_date: z.string().nullish(),
  keywords: z.string().nullish(),
  output_format: z.string().nullish(),
};
const ListBody = sent({ ...Which, ...Narrowing, ...Extent });
const ListQuery = sent({ ...Ids, ...Narrowing, ...Extent });
type ListBody = z.infer<typeof ListBody>;

/** Of the newest route, of those before, and of mem0's open-source server. */
export function listMemories(app: App, ask: Ask): void {
  const paged = { querystring: sent(Extent), body: ListBody };
  app.post('/v3/memories', { schema: paged }, async (request) => {
    const given = { page: 1, ...request.body, ...request.query };
    return listed(await list(ask, request, given), given, '/mem0/v3/memories/');
  });
  app.post('/v2/memories', { schema: paged }, async (request) => {
    const given = { ...request.body, ...request.query };
    return listed(await list(ask, request, given), given, '/mem0/v2/memories/');
  });
  app.get('/v1/memories', { schema: { querystring: ListQuery } }, async (request) =>
    listed(await list(ask, request, request.query), request.query, '/mem0/v1/memories/'),
  );
  app.get('/memories', { schema: { querystring: ListQuery } }, async (request) => {
    const most = request.query.top_k ?? request.query.limit ?? undefined;
    const { results } = await list(ask, request, request.query);
    return { results: results.slice(0, most) };
  });
}

/** A page if one is asked for; else everything, which the oldest clients expect as a bare list. */
function listed({ results, relations }: Answer, given: ListBody, path: string): unknown {
  const { page, page_size, top_k, limit, output_format } = given;
  const size = page_size ?? top_k ?? limit ?? SIZE_USUAL;
  const related = relations === undefined ? {} : { relations };
  if (page != null) return { ...mem0Page(results, { page, size, path }), ...related };
  const all = results.slice(0, page_size ?? top_k ?? limit ?? undefined);
  return output_format === 'v1.1' || relations !== undefined ? { results: all, ...related } : all;
}

async function list(ask: Ask, request: FastifyRequest, given: ListBody): Promise<Answer> {
  if (given.latest_only === false) throw unsupported('latest_only: false of a list', 'use the history of a memory');
  const owners = await ownersIn(ask, request, { filters: wanted(given), most: LISTED_MAX });
  const memories: MemoryView[] = [];
  for (const { scope, filters } of owners) {
    memories.push(...(await memoriesOf(ask, request, { scope, filters: narrowedBy(filters, given) })));
  }
  memories.sort(newestFirst);
  const results = shown(memories, given);
  if (given.enable_graph !== true) return { results };
  const relations = [];
  for (const { scope } of owners.filter(hasOwner)) relations.push(...(await relationsOf(ask, request, scope)));
  return { results, relations };
}

/** What is of one moment stays as our own lists have it. */
const newestFirst = (a: MemoryView, b: MemoryView): number => {
  if (a.created_at === b.created_at) return 0;
  return a.created_at < b.created_at ? 1 : -1;
};

/** As many as fit in one response. The graph belongs to the owner: other ids only filter memories. */
async function relationsOf(ask: Ask, request: FastifyRequest, scope: Scoped['scope']) {
  const [owner] = ['user_id', 'agent_id', 'run_id'].filter((name) => scope[name] !== undefined);
  const query = new URLSearchParams({ [owner ?? 'user_id']: scope[owner ?? 'user_id'] ?? '', limit: RELATIONS_MAX });
  const { relations } = await ask<GraphView>(request, { method: 'GET', path: `/v1/graph?${query}` });
  return relations.map(mem0Relation);
}

const RELATIONS_MAX = '1000';

function narrowedBy(filters: Json, { start_date, end_date, keywords }: ListBody): Json {
  const created = {
    ...(start_date && { gte: momentOf(start_date) }),
    ...(end_date && { lte: momentOf(end_date) }),
  };
  const dated = Object.keys(created).length === 0 ? filters : also(filters, { created_at: created });
  return also(dated, keywords ? { memory: { icontains: keywords } } : null);
}
