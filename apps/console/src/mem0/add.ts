import {
  type BatchAccepted,
  type BatchList as BatchListSchema,
  type BatchView,
  CONTENT_MAX,
  Filters,
  MESSAGES_MAX,
  Metadata,
  PARTS_MAX,
  type PostBatch,
} from '@slowwave/contracts';
import { type App, type FastifyRequest, problem } from '@slowwave/http';
import { z } from 'zod';
import { type Ask, unsupported } from './ask.ts';
import { Ids, idsIn, mem0Page, momentOf, PageFields, sent } from './format.ts';
import { ownerIn } from './owners.ts';
import { CustomCategories, namesOf } from './project.ts';

/** How long a synchronous add may take, in ms. */
const AT_ONCE_MS = 60_000;

/** As large as in our API, which then validates the inside. Larger ones are not forwarded. */
const Content = z.union([z.string().max(CONTENT_MAX), z.array(z.unknown()).max(PARTS_MAX), z.looseObject({})]);

const AddBody = sent({
  messages: z.union([
    z.string().min(1).max(CONTENT_MAX),
    z
      .array(z.looseObject({ content: Content.nullish() }))
      .min(1)
      .max(MESSAGES_MAX),
  ]),
  ...Ids,
  metadata: Metadata.nullish(),
  infer: z.boolean().nullish(),
  custom_instructions: z.string().nullish(),
  includes: z.string().nullish(),
  excludes: z.string().nullish(),
  timestamp: z.union([z.number(), z.string()]).nullish(),
  expiration_date: z.string().nullish(),
  memory_type: z.string().nullish(),
  async_mode: z.boolean().nullish(),
  output_format: z.string().nullish(),
  enable_graph: z.boolean().nullish(),
  timezone: z.string().nullish(),
  // Typed clients name the owner in filters here, too.
  filters: Filters.nullish(),
  // Of mem0's open-source server.
  prompt: z.string().nullish(),
  observation_date: z.union([z.number(), z.string()]).nullish(),
  custom_categories: CustomCategories.nullish(),
  // The following fields are refused if they are set.
  agent_custom_instructions: z.unknown().optional(),
  structured_data_schema: z.unknown().optional(),
  immutable: z.boolean().nullish(),
});
type AddBody = z.infer<typeof AddBody>;

/** Of the newest route, and of those before, which expect a list of what was added. */
export function addMemories(app: App, ask: Ask): void {
  app.post('/v3/memories/add', { schema: { body: AddBody } }, (request) => add(ask, request, request.body));
  app.post('/v1/memories', { schema: { body: AddBody } }, async (request) => {
    const added = await add(ask, request, request.body);
    const results = 'results' in added ? added.results : [added];
    return request.body.output_format === 'v1.1' ? { results } : results;
  });
  // mem0's open-source server answers when it is done.
  app.post('/memories', { schema: { body: AddBody } }, async (request) => {
    const batch = await addAtOnce(ask, request, batchOf(request.body));
    if (batch.stage !== 'done' || batch.state === 'parked') throw notDone(batch);
    return { results: batch.events.map(resultOf) };
  });
}

/** Queued, unless nothing is inferred or the client wants to wait: then the response is what was stored. */
async function add(ask: Ask, request: FastifyRequest, given: AddBody) {
  const body = batchOf(given);
  if (given.infer === false || given.async_mode === false) {
    const batch = await addAtOnce(ask, request, body);
    return { status: statusOf(batch), event_id: batch.id, results: batch.events.map(resultOf) };
  }
  const { batch_id } = await ask<BatchAccepted>(request, { method: 'POST', path: '/v1/batches', body });
  return {
    event_id: batch_id,
    status: 'PENDING' as const,
    message: 'Memory processing has been queued for background execution',
  };
}

const addAtOnce = (ask: Ask, request: FastifyRequest, body: object) =>
  ask<BatchView>(request, { method: 'POST', path: `/v1/batches?wait=${AT_ONCE_MS}`, body: { ...body, flush: true } });

const notDone = ({ id, state, error }: BatchView) =>
  problem(
    'unavailable',
    `the add ${id} is ${state} after ${AT_ONCE_MS / 1_000} s${error === null ? '' : `: ${error.message}`}; it continues in the background`,
  );

function batchOf(given: AddBody): object {
  refuse(given);
  const { messages, metadata, filters, expiration_date } = given;
  const categories = namesOf(given.custom_categories ?? []);
  const instructions = given.custom_instructions || given.prompt;
  const timestamp = given.timestamp ?? given.observation_date;
  return {
    ...(filters && ownerIn(filters).scope),
    ...idsIn(given),
    messages: typeof messages === 'string' ? messages : messages.map(messageOf),
    ...(metadata && { metadata }),
    ...(instructions && { instructions }),
    ...(given.includes && { includes: given.includes }),
    ...(given.excludes && { excludes: given.excludes }),
    ...(timestamp != null && { timestamp: momentOf(timestamp) }),
    ...(given.timezone && { timezone: given.timezone }),
    ...(expiration_date && { expires_at: momentOf(expiration_date) }),
    ...(categories.length > 0 && { categories }),
    ...(given.enable_graph != null && { graph: given.enable_graph }),
    mode: modeOf(given),
  };
}

function modeOf({ infer, memory_type }: AddBody): PostBatch['mode'] {
  if (memory_type === 'procedural_memory') return 'procedural';
  return infer === false ? 'verbatim' : 'decide';
}

function refuse({ agent_custom_instructions, structured_data_schema, ...given }: AddBody): void {
  if (agent_custom_instructions != null) throw unsupported('agent_custom_instructions', 'use custom_instructions');
  if (structured_data_schema != null) throw unsupported('structured_data_schema', 'remove it');
  if (given.immutable === true) throw unsupported('immutable of one add', 'use POST /v1/memories');
}

/** An image may be sent alone instead of a list of parts. */
function messageOf(message: Readonly<Record<string, unknown>>): object {
  const { content } = message;
  const isPart = typeof content === 'object' && content !== null && !Array.isArray(content);
  return { ...message, ...(isPart && { content: [content] }) };
}

const statusOf = ({ state }: Pick<BatchView, 'state'>): 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' => {
  if (state === 'parked') return 'FAILED';
  if (state === 'pending') return 'PENDING';
  return state === 'consolidating' ? 'RUNNING' : 'SUCCEEDED';
};

const resultOf = ({ memory_id, memory, event }: BatchView['events'][number]) => ({
  id: memory_id,
  memory,
  data: { memory },
  event,
});

/** The outcome of an add: an event is our batch. Who asks for it waits, so it is consolidated now. */
export function events(app: App, ask: Ask): void {
  app.get('/v1/event/:id', { schema: { params: z.strictObject({ id: z.string() }) } }, async (request) => {
    const path = `/v1/batches/${encodeURIComponent(request.params.id)}?wait=1`;
    const batch = await ask<BatchView>(request, { method: 'GET', path });
    return { ...eventOf(batch), results: batch.events.map(resultOf) };
  });
  app.get('/v1/events', { schema: { querystring: sent({ ...PageFields }) } }, async (request) => {
    const { page, page_size: size } = request.query;
    const { results } = await ask<BatchList>(request, { method: 'GET', path: `/v1/batches?limit=${EVENTS_MAX}` });
    return mem0Page(results.map(eventOf), { page, size, path: '/mem0/v1/events/' });
  });
}

/** The newest. */
const EVENTS_MAX = 200;

type BatchList = z.infer<typeof BatchListSchema>;
type Summary = Pick<BatchView, 'id' | 'state' | 'error' | 'timings'>;

const eventOf = (batch: Summary) => ({
  id: batch.id,
  event_type: 'ADD',
  status: statusOf(batch),
  error: batch.error?.message ?? null,
  created_at: batch.timings.accepted_at,
  updated_at: batch.timings.searchable_at ?? batch.timings.accepted_at,
});
