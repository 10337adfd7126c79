import { Filters, Metadata, type SearchResult } from '@slowwave/contracts';
import type { App } from '@slowwave/http';
import { z } from 'zod';
import type { Ask } from './ask.ts';
import { unsupported } from './errors.ts';
import { also, scopedBy } from './scope.ts';
import { mem0Memory, mem0Relation } from './views.ts';

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
  // Words are always searched for as well; the rest says how mem0's own service goes about it.
  keyword_search: z.boolean().nullish(),
  output_format: z.string().nullish(),
  version: z.string().nullish(),
  org_id: z.string().nullish(),
  project_id: z.string().nullish(),
  source: z.string().nullish(),
  enable_graph: z.boolean().nullish(),
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
    ...(top_k != null && { top_k }),
    ...(threshold != null && { threshold }),
    ...(rerank === true && { rerank }),
    ...(latest_only === false && { latest_only }),
    ...(given.enable_graph === true && { include: ['relations'] }),
  };
}

const only = (memory: object, fields: readonly string[]): object =>
  Object.fromEntries(Object.entries(memory).filter(([name]) => name === 'id' || fields.includes(name)));
