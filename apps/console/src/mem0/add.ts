import {
  type BatchAccepted,
  type BatchView,
  CONTENT_MAX,
  MESSAGES_MAX,
  Metadata,
  PARTS_MAX,
  type PostBatch,
} from '@slowwave/contracts';
import type { App } from '@slowwave/http';
import { z } from 'zod';
import { type Ask, unsupported } from './ask.ts';
import { Bookkeeping, Ids, momentOf } from './fields.ts';

/** How long a synchronous add may take, in ms. */
export const AT_ONCE_MS = 60_000;

/** As large as in our API, which then validates the inside. Larger ones are not forwarded. */
const Content = z.union([z.string().max(CONTENT_MAX), z.array(z.unknown()).max(PARTS_MAX), z.looseObject({})]);

export const AddBody = z.strictObject({
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
  ...Bookkeeping,
  // The following fields are refused if they are set.
  custom_categories: z.unknown().optional(),
  agent_custom_instructions: z.unknown().optional(),
  structured_data_schema: z.unknown().optional(),
  immutable: z.boolean().nullish(),
});
type AddBody = z.infer<typeof AddBody>;

/** Queued, unless nothing is inferred: then the response is what was stored. */
export function addMemories(app: App, ask: Ask): void {
  app.post('/v3/memories/add', { schema: { body: AddBody } }, async (request) => {
    const body = batchOf(request.body);
    if (request.body.infer !== false) {
      const { batch_id } = await ask<BatchAccepted>(request, { method: 'POST', path: '/v1/batches', body });
      return {
        event_id: batch_id,
        status: 'PENDING',
        message: 'Memory processing has been queued for background execution',
      };
    }
    const path = `/v1/batches?wait=${AT_ONCE_MS}`;
    const batch = await ask<BatchView>(request, { method: 'POST', path, body: { ...body, flush: true } });
    return { status: statusOf(batch), event_id: batch.id, results: batch.events.map(resultOf) };
  });
}

export function batchOf(given: AddBody): object {
  refuse(given);
  const { messages, metadata, custom_instructions, timestamp, expiration_date } = given;
  return {
    ...idsOf(given),
    messages: typeof messages === 'string' ? messages : messages.map(messageOf),
    ...(metadata && { metadata }),
    ...(custom_instructions && { instructions: custom_instructions }),
    ...(given.includes && { includes: given.includes }),
    ...(given.excludes && { excludes: given.excludes }),
    ...(timestamp != null && { timestamp: momentOf(timestamp) }),
    ...(expiration_date && { expires_at: momentOf(expiration_date) }),
    ...(given.enable_graph != null && { graph: given.enable_graph }),
    mode: modeOf(given),
  };
}

function modeOf({ infer, memory_type }: AddBody): PostBatch['mode'] {
  if (memory_type === 'procedural_memory') return 'procedural';
  return infer === false ? 'verbatim' : 'decide';
}

function refuse({ custom_categories, agent_custom_instructions, structured_data_schema, ...given }: AddBody): void {
  if (custom_categories != null) throw unsupported('custom_categories of one add', 'set them for the project');
  if (agent_custom_instructions != null) throw unsupported('agent_custom_instructions', 'use custom_instructions');
  if (structured_data_schema != null) throw unsupported('structured_data_schema', 'remove it');
  if (given.immutable === true) throw unsupported('immutable of one add', 'use POST /v1/memories');
}

const idsOf = ({ user_id, agent_id, run_id, app_id }: AddBody): object => ({
  ...(user_id && { user_id }),
  ...(agent_id && { agent_id }),
  ...(run_id && { run_id }),
  ...(app_id && { app_id }),
});

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

export const resultOf = ({ memory_id, memory, event }: BatchView['events'][number]) => ({
  id: memory_id,
  memory,
  data: { memory },
  event,
});

/** The outcome of an add: an event is our batch. */
export function events(app: App, ask: Ask): void {
  app.get('/v1/event/:id', { schema: { params: z.strictObject({ id: z.string() }) } }, async (request) => {
    const path = `/v1/batches/${encodeURIComponent(request.params.id)}`;
    const batch = await ask<BatchView>(request, { method: 'GET', path });
    const { accepted_at, searchable_at } = batch.timings;
    return {
      id: batch.id,
      event_type: 'ADD',
      status: statusOf(batch),
      results: batch.events.map(resultOf),
      error: batch.error?.message ?? null,
      created_at: accepted_at,
      updated_at: searchable_at ?? accepted_at,
    };
  });
}
