import {
  type ContextResult,
  type DeletedMemoriesView,
  type HistoryEvent,
  type MemoryView,
  Metadata,
  type UserView,
} from '@slowwave/contracts';
import { type App, countMore, type FastifyRequest, notFound, problem } from '@slowwave/http';
import { z } from 'zod';
import { type Ask, everything, isNotFound, unsupported } from './ask.ts';
import { also, Ids, idsIn, type Json, memoryPath, momentOf, PageFields, queryText, sent } from './fields.ts';
import { LISTED_MAX, ownerIn, ownersIn } from './owners.ts';
import { mem0Entity, mem0Event, mem0Memory, mem0Page } from './views.ts';

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
  const deletion = {
    params: MemoryId,
    querystring: z.looseObject({ delete_linked: z.enum(['true', 'false']).optional() }),
  };
  app.delete(`${at}/:id`, { schema: deletion }, async (request) => {
    if (request.query.delete_linked === 'true') throw unsupported('delete_linked', 'delete each memory by its id');
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

/** A blank id is a mistake here: without it somebody else's memories would be meant. */
const Named = z.string().min(1).nullish();
const OwnerQuery = sent({ user_id: Named, agent_id: Named, run_id: Named, app_id: Named });
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

/** Everything of one owner, or of all users, agents or runs. */
export function deleteOfOwner(app: App, ask: Ask, at: string): void {
  app.delete(at, { schema: { querystring: OwnerQuery } }, async (request) => {
    const ids = idsIn(request.query);
    const isOne = !Object.values(ids).includes(EVERYBODY);
    const owners = isOne
      ? [{ scope: ids, filters: null }]
      : await ownersIn(ask, request, { filters: ids, most: LISTED_MAX });
    let count = 0;
    for (const { scope, filters } of owners) {
      const path = `/v1/memories${queryText({ ...scope, ...(filters && { filters: JSON.stringify(filters) }) })}`;
      const { deleted } = await ask<DeletedMemoriesView>(request, { method: 'DELETE', path });
      countMore(request, deleted - 1);
      count += deleted;
    }
    return { message: `Memories deleted successfully! (${count})` };
  });
}

const EVERYBODY = '*';

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

const NamedEntity = z.strictObject({ type: z.string(), id: z.string() });
const ENTITIES_PATH = '/mem0/v1/entities/';

/** Users, agents and runs: who has memories, and everything of one gone. */
export function entities(app: App, ask: Ask): void {
  app.get('/v1/entities', { schema: { querystring: z.looseObject(PageFields) } }, async (request) => {
    const { page, page_size: size } = request.query;
    const all = await everything<UserView>(ask, request, { path: '/v1/users' });
    return mem0Page(all.map(mem0Entity), { page, size, path: ENTITIES_PATH });
  });
  for (const path of ['/v1/entities/:type/:id', '/v2/entities/:type/:id']) {
    app.delete(path, { schema: { params: NamedEntity } }, async (request) => {
      await erase(ask, request, request.params);
      return { message: `Entity deleted successfully!${STAYS[request.params.type] ?? ''}` };
    });
  }
}

/** Takes effect at once; rows are deleted in the background. */
async function erase(ask: Ask, request: FastifyRequest, { type, id }: z.infer<typeof NamedEntity>): Promise<void> {
  if (type === 'app') {
    throw problem(
      'invalid_request',
      'an app does not own memories here; delete its users, or their memories with app_id',
    );
  }
  if (type !== 'user' && type !== 'agent' && type !== 'run') throw notFound('kind of entity', type);
  await ask(request, { method: 'DELETE', path: `/v1/${type}s/${encodeURIComponent(id)}` });
}

/** mem0 would also delete memories that only name them. */
const STAYS: Readonly<Record<string, string>> = {
  agent: ' What users said to it belongs to them and is kept.',
  run: ' What users or agents said in it belongs to them and is kept.',
};

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
    ownerIn(filters); // report mistakes now
    return {
      message: 'Memory export request received. The export will be ready when it is fetched.',
      id: idOf(filters),
    };
  });
  app.post('/v1/exports/get', { schema: { body: GetExport } }, async (request) => {
    const { memory_export_id: id, filters } = request.body;
    const given = id == null ? also(idsIn(request.body), filters ?? null) : filtersOf(id);
    const { scope, filters: wanted } = ownerIn(given);
    const all = await everything<MemoryView>(ask, request, { path: '/v1/memories', query: scope, filters: wanted });
    return { memories: all.map(mem0Memory) };
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
