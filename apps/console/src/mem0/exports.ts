import type { MemoryView } from '@slowwave/contracts';
import { type App, problem } from '@slowwave/http';
import { z } from 'zod';
import type { Ask } from './ask.ts';
import { everything } from './everything.ts';
import { type Json, scopedBy } from './scope.ts';
import { mem0Memory } from './views.ts';

const Filters = z.record(z.string(), z.unknown());
const CreateBody = z.looseObject({ filters: Filters, schema: z.record(z.string(), z.unknown()) });
const GetBody = z.looseObject({ memory_export_id: z.string().optional(), filters: Filters.optional() });

/**
 * An export is its filters: it is made when it is fetched, of what holds then. It has the memories as they are; no model
 * brings them into the schema.
 */
export function memoryExports(app: App, ask: Ask): void {
  app.post('/v1/exports', { schema: { body: CreateBody } }, async (request) => {
    scopedBy(request.body.filters); // a mistake is told now
    return {
      message: 'Memory export request received. The export will be ready when it is fetched.',
      id: idOf(request.body.filters),
    };
  });
  app.post('/v1/exports/get', { schema: { body: GetBody } }, async (request) => {
    const { memory_export_id: id, filters } = request.body;
    const { scope, filters: wanted } = scopedBy(id === undefined ? filters : filtersOf(id));
    const all = await everything<MemoryView>(ask, request, { path: '/v1/memories', query: scope, filters: wanted });
    return { memories: all.map(mem0Memory) };
  });
}

const PREFIX = 'export_';

const idOf = (filters: Json): string => `${PREFIX}${Buffer.from(JSON.stringify(filters)).toString('base64url')}`;

function filtersOf(id: string): Json {
  try {
    return Filters.parse(JSON.parse(Buffer.from(id.slice(PREFIX.length), 'base64url').toString('utf8')));
  } catch {
    throw problem('invalid_request', 'unknown export id; create an export first');
  }
}
