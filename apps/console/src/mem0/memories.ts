import { type ContextResult, type HistoryEvent, type MemoryView, Metadata } from '@slowwave/contracts';
import { type App, type FastifyRequest, problem } from '@slowwave/http';
import { z } from 'zod';
import { type Ask, everything, isNotFound, unsupported } from './ask.ts';
import { also, Ids, idsIn, type Json, memoryPath, momentOf, sent } from './fields.ts';
import { LISTED_MAX, memoriesOf, ownerIn, ownersIn } from './owners.ts';
import { mem0Event, mem0Memory } from './views.ts';

const MemoryId = z.strictObject({ id: z.string() });

const ChangeBody = sent({
  text: z.string().optional(),
  metadata: Metadata.optional(),
  expiration_date: z.string().nullish(),
  timestamp: z.unknown().optional(),
});

/** Reading, changing, deleting one memory, and its history. */
export function oneMemory(app: App, ask: Ask, at: string): void {
  app.get(`${at}/:id`, { schema: { params: MemoryId } }, async (request) =>
    mem0Memory(await ask<MemoryView>(request, { method: 'GET', path: memoryPath(request.params.id) })),
  );
  app.put(`${at}/:id`, { schema: { params: MemoryId, body: ChangeBody } }, async (request) => {
    const { text, metadata, expiration_date, timestamp } = request.body;
    if (timestamp != null) throw unsupported('timestamp of a change', 'omit it; the time of the request is used');
    const body = {
      ...(text !== undefined && { memory: text }),
      ...(metadata !== undefined && { metadata }),
      ...(expiration_date !== undefined && {
        expires_at: expiration_date === null ? null : momentOf(expiration_date),
      }),
    };
    return mem0Memory(await ask<MemoryView>(request, { method: 'PATCH', path: memoryPath(request.params.id), body }));
  });
  // What a memory superseded are versions of it here, so that linked ones go with it in any case.
  const deletion = { params: MemoryId, querystring: sent({ delete_linked: z.enum(['true', 'false']).nullish() }) };
  app.delete(`${at}/:id`, { schema: deletion }, async (request) => {
    await ask(request, { method: 'DELETE', path: memoryPath(request.params.id) });
    return { message: 'Memory deleted successfully!' };
  });
  app.get(`${at}/:id/history`, { schema: { params: MemoryId } }, async (request) => {
    const path = `${memoryPath(request.params.id)}/history`;
    const events = await everything<HistoryEvent>(ask, request, { path });
    const userId = await userOf(ask, request);
    // mem0's histories have no ratings in them.
    return events.filter(({ event }) => event !== 'FEEDBACK').map(mem0Event(userId));
  });
}

/** Of a deleted memory only its history is left. */
async function userOf(ask: Ask, request: FastifyRequest): Promise<string | null> {
  const { id } = request.params as z.infer<typeof MemoryId>;
  try {
    return (await ask<MemoryView>(request, { method: 'GET', path: memoryPath(id) })).user_id;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

const SEVERAL_MAX = 1_000;

const Changes = sent({
  memories: z
    .array(sent({ memory_id: z.string(), text: z.string().nullish(), metadata: Metadata.nullish() }))
    .min(1)
    .max(SEVERAL_MAX),
});
const Deletions = sent({
  memories: z
    .array(z.strictObject({ memory_id: z.string() }))
    .min(1)
    .max(SEVERAL_MAX),
});

/** Several memories at once, each by its id. */
export function severalMemories(app: App, ask: Ask): void {
  app.put('/v1/batch', { schema: { body: Changes } }, async (request) => {
    for (const { memory_id, text, metadata } of request.body.memories) {
      const body = { ...(text != null && { memory: text }), ...(metadata != null && { metadata }) };
      await ask<MemoryView>(request, { method: 'PATCH', path: memoryPath(memory_id), body });
    }
    return { message: `Successfully updated ${request.body.memories.length} memories` };
  });
  app.delete('/v1/batch', { schema: { body: Deletions } }, async (request) => {
    for (const { memory_id } of request.body.memories)
      await ask(request, { method: 'DELETE', path: memoryPath(memory_id) });
    return { message: `Successfully deleted ${request.body.memories.length} memories` };
  });
}

const RATINGS = { POSITIVE: 'positive', NEGATIVE: 'negative', VERY_NEGATIVE: 'very_negative' } as const;

const FeedbackBody = sent({
  memory_id: z.string(),
  feedback: z.enum(['POSITIVE', 'NEGATIVE', 'VERY_NEGATIVE']).nullish(),
  feedback_reason: z.string().max(2_000).nullish(),
});

/** Feedback without a value takes back what was said before. */
export function feedback(app: App, ask: Ask): void {
  app.post('/v1/feedback', { schema: { body: FeedbackBody } }, async (request) => {
    const { memory_id, feedback: given, feedback_reason: reason } = request.body;
    const rating = given == null ? 'none' : RATINGS[given];
    const body = { rating, ...(reason != null && reason.trim() !== '' && { reason }) };
    await ask(request, { method: 'POST', path: `${memoryPath(memory_id)}/feedback`, body });
    return { id: memory_id, feedback: given ?? null, feedback_reason: reason ?? null };
  });
}

const Filters = z.record(z.string(), z.unknown());
/** The schema as an object, or as the text of one. */
const CreateExport = sent({
  ...Ids,
  filters: Filters.nullish(),
  schema: z.union([z.record(z.string(), z.unknown()), z.string()]).nullish(),
  export_instructions: z.string().nullish(),
});
const GetExport = sent({ ...Ids, memory_export_id: z.string().nullish(), filters: Filters.nullish() });

/**
 * An export is only its filters: it is created when it is fetched, from the current memories. No model converts them to
 * the schema.
 */
export function memoryExports(app: App, ask: Ask): void {
  app.post('/v1/exports', { schema: { body: CreateExport } }, async (request) => {
    const filters = also(idsIn(request.body), request.body.filters ?? null);
    await ownersIn(ask, request, { filters, most: LISTED_MAX }); // reports mistakes now
    return {
      message: 'Memory export request received. The export will be ready when it is fetched.',
      id: idOf(filters),
    };
  });
  app.post('/v1/exports/get', { schema: { body: GetExport } }, async (request) => {
    const { memory_export_id: id, filters } = request.body;
    const given = id == null ? also(idsIn(request.body), filters ?? null) : filtersOf(id);
    const owners = await ownersIn(ask, request, { filters: given, most: LISTED_MAX });
    const all = new Map<string, object>();
    for (const one of owners) {
      for (const memory of await memoriesOf(ask, request, one)) all.set(memory.id, mem0Memory(memory));
    }
    return { memories: [...all.values()] };
  });
  app.post('/v1/summary', { schema: { body: GetExport } }, async (request) => {
    const { scope } = ownerIn(also(idsIn(request.body), request.body.filters ?? null));
    const body = { ...scope, sections: ['profile', 'summary'], format: 'text' };
    const { text } = await ask<z.infer<typeof ContextResult>>(request, { method: 'POST', path: '/v1/context', body });
    return { summary: text };
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
