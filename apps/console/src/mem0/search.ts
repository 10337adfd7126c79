import { Filters, type GraphView, type MemoryView, Metadata, type SearchResult } from '@slowwave/contracts';
import type { App, FastifyRequest } from '@slowwave/http';
import { z } from 'zod';
import { type Ask, everything, unsupported } from './ask.ts';
import { also, Bookkeeping, type Json, momentOf, PageFields, scopedBy } from './fields.ts';
import { mem0Memory, mem0Page, mem0Relation } from './views.ts';

const SearchBody = z.strictObject({
  query: z.string(),
  filters: Filters.optional(),
  metadata: Metadata.nullish(),
  categories: z.array(z.string()).nullish(),
  top_k: z.number().int().nullish(),
  limit: z.number().int().nullish(),
  threshold: z.number().nullish(),
  rerank: z.boolean().nullish(),
  latest_only: z.boolean().nullish(),
  fields: z.array(z.string()).nullish(),
  // Keywords are always searched, too.
  keyword_search: z.boolean().nullish(),
  ...Bookkeeping,
  show_expired: z.boolean().nullish(),
  reference_date: z.unknown().optional(),
});
type SearchBody = z.infer<typeof SearchBody>;

export function searchMemories(app: App, ask: Ask): void {
  app.post('/v3/memories/search', { schema: { body: SearchBody } }, async (request) => {
    const body = questionOf(request.body);
    const { results, relations } = await ask<Found>(request, { method: 'POST', path: '/v1/search', body });
    const { fields } = request.body;
    const memories = results.map(mem0Memory).map((memory) => (fields ? only(memory, fields) : memory));
    return { results: memories, ...(relations !== undefined && { relations: relations.map(mem0Relation) }) };
  });
}

type Found = z.infer<typeof SearchResult>;

function questionOf(given: SearchBody): object {
  if (given.show_expired === true) throw unsupported('show_expired', 'use POST /v1/search with as_of');
  if (given.reference_date != null) throw unsupported('reference_date', 'use POST /v1/search with as_of');
  const { scope, filters } = scopedBy(given.filters);
  const { query, rerank, threshold, latest_only, metadata, categories } = given;
  const top_k = given.top_k ?? given.limit;
  return {
    ...scope,
    query,
    filters: also(
      also(filters, metadata ? { metadata } : null),
      categories ? { categories: { in: categories } } : null,
    ),
    // As mem0 does: as many as asked for.
    cut: 'none',
    ...(top_k != null && { top_k }),
    ...(threshold != null && { threshold }),
    ...(rerank === true && { rerank }),
    ...(latest_only === false && { latest_only }),
    ...(given.enable_graph === true && { include: ['relations'] }),
  };
}

const only = (memory: object, fields: readonly string[]): object =>
  Object.fromEntries(Object.entries(memory).filter(([name]) => name === 'id' || fields.includes(name)));

const ListBody = z.strictObject({
  filters: z.record(z.string(), z.unknown()).optional(),
  start_date: z.string().nullish(),
  end_date: z.string().nullish(),
  categories: z.array(z.string()).nullish(),
  latest_only: z.boolean().nullish(),
  show_expired: z.boolean().nullish(),
  enable_graph: z.boolean().nullish(),
  output_format: z.string().nullish(),
  org_id: z.string().nullish(),
  project_id: z.string().nullish(),
  source: z.string().nullish(),
});
type ListBody = z.infer<typeof ListBody>;

const LIST_PATH = '/mem0/v3/memories/';

export function listMemories(app: App, ask: Ask): void {
  const schema = { querystring: z.strictObject(PageFields), body: ListBody };
  app.post('/v3/memories', { schema }, async (request) => {
    const { page, page_size: size } = request.query;
    const { scope, filters } = scopedBy(request.body.filters);
    const wanted = { path: '/v1/memories', query: scope, filters: narrowed(filters, request.body) };
    const all = await everything<MemoryView>(ask, request, wanted);
    const listed = mem0Page(all.map(mem0Memory), { page, size, path: LIST_PATH });
    if (request.body.enable_graph !== true) return listed;
    return { ...listed, relations: await relationsOf(ask, request, scope) };
  });
}

/** As many as fit in one response. The graph belongs to the owner: other ids only filter memories. */
async function relationsOf(ask: Ask, request: FastifyRequest, scope: Readonly<Record<string, string>>) {
  const [owner] = ['user_id', 'agent_id', 'run_id'].filter((name) => scope[name] !== undefined);
  const query = new URLSearchParams({ [owner ?? 'user_id']: scope[owner ?? 'user_id'] ?? '', limit: RELATIONS_MAX });
  const { relations } = await ask<GraphView>(request, { method: 'GET', path: `/v1/graph?${query}` });
  return relations.map(mem0Relation);
}

const RELATIONS_MAX = '1000';

function narrowed(filters: Json, { start_date, end_date, categories, latest_only, show_expired }: ListBody): Json {
  if (show_expired === true) throw unsupported('show_expired', 'remove it');
  if (latest_only === false) throw unsupported('latest_only: false of a list', 'use the history of a memory');
  const created = {
    ...(start_date && { gte: momentOf(start_date) }),
    ...(end_date && { lte: momentOf(end_date) }),
  };
  const dated = Object.keys(created).length === 0 ? filters : also(filters, { created_at: created });
  return also(dated, categories ? { categories: { in: categories } } : null);
}
