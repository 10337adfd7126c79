import { MessageList, MessagesQuery } from '@slowwave/contracts';
import { eventsInApp, type Message, ownerOf, type Scope, type TenantId } from '@slowwave/engine';
import { type FastifyRequest, mayKnow, notFound, ownApp } from '@slowwave/http';
import { routesOf, type SearchDeps } from './deps.ts';
import { existing } from './memories.ts';
import { nearView } from './views.ts';

const route = routesOf('memories');

/** What was said, as it was said. */
export const messageRoutes = [
  route('GET /v1/messages', {
    id: 'listMessages',
    summary: 'Get the conversation around a message, or around an event of a history',
    description:
      'Returns the messages in the order of arrival, of all conversations of the owner. An event has the messages that ' +
      'it came from; explicit changes came from none. Repeat the request with the first or the last message to read on.',
    query: MessagesQuery,
    answer: MessageList,
    bounds: { by: 'found', apps: true },
    handle: async (deps, { tenant, query: { around, before, after }, request }) => {
      const asked = await askedIn(deps, request, { tenant, id: around });
      const reach = { before, after, appId: ownApp(request) };
      const near: Message[] = [];
      for (const { scope, ids } of asked) {
        const found = await deps.ledger.lookups.around({ tenant, owner: ownerOf(scope), ids }, reach);
        near.push(...[...found.values()].flat());
      }
      const once = [...new Map(near.map((message) => [message.id, message])).values()];
      const ids = new Set(asked.flatMap((one) => one.ids));
      const inOrder = once.sort((a, b) => a.saidAt.seq - b.saidAt.seq);
      return { results: inOrder.map((message) => nearView(message, ids.has(message.id))) };
    },
  }),
];

interface Asked {
  readonly scope: Scope;
  readonly ids: readonly string[];
}

const EVENT = /^evt_/;

/** The messages that are asked for, with whose they are. A key for one user or app finds its own alone. */
async function askedIn(
  { ledger }: SearchDeps,
  request: FastifyRequest,
  { tenant, id }: { readonly tenant: TenantId; readonly id: string },
): Promise<readonly Asked[]> {
  const ids = EVENT.test(id) ? await sourcesOf({ ledger }, request, { tenant, id }) : [id];
  const messages = [...(await ledger.memories.messages(tenant, ids)).values()];
  const ofBatches = Map.groupBy(messages, ({ batchId }) => batchId);
  const asked: Asked[] = [];
  for (const [batchId, of] of ofBatches) {
    const batch = await ledger.batches.get(tenant, batchId);
    if (batch !== null && mayKnow(request, batch.scope))
      asked.push({ scope: batch.scope, ids: of.map((message) => message.id) });
  }
  if (asked.length === 0 && ids.length > 0) throw notFound('message', id);
  return asked;
}

/** What an event came from. */
async function sourcesOf(
  { ledger }: Pick<SearchDeps, 'ledger'>,
  request: FastifyRequest,
  { tenant, id }: { readonly tenant: TenantId; readonly id: string },
): Promise<readonly string[]> {
  const event = await ledger.memories.event(tenant, id);
  if (event === null) throw notFound('event', id);
  const memory = await existing(ledger, request, event.memoryId);
  const app = ownApp(request);
  const known = app === null ? [event] : eventsInApp(memory, [event], app);
  if (known.length === 0) throw notFound('event', id);
  return event.sourceIds;
}
