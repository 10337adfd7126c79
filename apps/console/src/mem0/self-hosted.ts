import { type BatchView, Filters, type MemoryView, type SearchResult } from '@slowwave/contracts';
import { type App, problem } from '@slowwave/http';
import { z } from 'zod';
import { AddBody, AT_ONCE_MS, batchOf, resultOf } from './add.ts';
import { type Ask, everything } from './ask.ts';
import { also, Ids, QueryIds, scopedBy } from './fields.ts';
import { deleteOfOwner, oneMemory } from './memories.ts';
import { mem0Memory } from './views.ts';

const SearchBody = z.strictObject({
  query: z.string(),
  ...Ids,
  filters: Filters.nullish(),
  top_k: z.number().int().nullish(),
  limit: z.number().int().nullish(),
  threshold: z.number().nullish(),
  rerank: z.boolean().nullish(),
});

type Found = z.infer<typeof SearchResult>;

/** The paths of mem0's open-source server: an add waits until it is done. */
export function selfHosted(app: App, ask: Ask): void {
  app.post('/memories', { schema: { body: AddBody } }, async (request) => {
    const path = `/v1/batches?wait=${AT_ONCE_MS}`;
    const body = { ...batchOf(request.body), flush: true };
    const batch = await ask<BatchView>(request, { method: 'POST', path, body });
    if (batch.stage !== 'done' || batch.state === 'parked') throw notDone(batch);
    return { results: batch.events.map(resultOf) };
  });
  app.get('/memories', { schema: { querystring: z.strictObject(QueryIds) } }, async (request) => {
    const { scope, filters } = scopedBy(present(request.query));
    const all = await everything<MemoryView>(ask, request, { path: '/v1/memories', query: scope, filters });
    return { results: all.map(mem0Memory) };
  });
  app.post('/search', { schema: { body: SearchBody } }, async (request) => {
    const { query, filters: more, top_k, limit, threshold, rerank, ...ids } = request.body;
    const { scope, filters } = scopedBy(also(present(ids), more ?? null));
    const most = top_k ?? limit;
    // As mem0 does: as many as asked for.
    const extras = { cut: 'none', ...(most != null && { top_k: most }), ...(threshold != null && { threshold }) };
    const body = { ...scope, query, filters, ...extras, ...(rerank === true && { rerank }) };
    const { results } = await ask<Found>(request, { method: 'POST', path: '/v1/search', body });
    return { results: results.map(mem0Memory) };
  });
  oneMemory(app, ask, '/memories');
  deleteOfOwner(app, ask, '/memories');
}

const present = (ids: Readonly<Record<string, string | null | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(ids).flatMap(([name, id]) => (id == null ? [] : [[name, id]])));

const notDone = ({ id, state, error }: BatchView) =>
  problem(
    'unavailable',
    `the add ${id} is ${state} after ${AT_ONCE_MS / 1_000} s${error === null ? '' : `: ${error.message}`}; it continues in the background`,
  );
