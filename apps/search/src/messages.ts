import { MessageList, MessagesQuery, NEAR_CHARACTERS_MAX, NEAR_MAX } from '@slowwave/contracts';
import { eventsInApp, type Message, type Owner, ownerOf, type TenantId } from '@slowwave/engine';
import { type FastifyRequest, mayKnow, notFound, ownApp } from '@slowwave/http';
import type { z } from 'zod';
import { routesOf, type SearchDeps } from './deps.ts';
import { existing, nearView } from './memories.ts';

const route = routesOf('memories');

/** What was said, as it was said. */
export const messageRoutes = [
  route('GET /v1/messages', {
    id: 'listMessages',
    summary: 'Get the conversation around a message, or around an event of a history',
    description:
      'Returns the messages of all conversations of the owner, in the order of arrival. An event has the messages that ' +
      'it came from; explicit changes have none. To read on, repeat the request with the first or the last message, ' +
      'also if `more` says that not all messages fitted into the response.',
    query: MessagesQuery,
    answer: MessageList,
    bounds: { by: 'found', apps: true },
    handle: async (deps, { tenant, query: { around, before, after }, request }) => {
      const asked = await askedIn(deps, request, { tenant, id: around });
      const reach = { before, after, appId: ownApp(request) };
      const ids = asked.slice(0, NEAR_MAX).map((message) => message.id);
      const owner = asked[0]?.owner;
      const found = owner === undefined ? null : await deps.ledger.lookups.around({ tenant, owner, ids }, reach);
      const near = [...(found?.values() ?? [])].flat();
      const kept = nearest([...new Map(near.map((message) => [message.id, message])).values()], new Set(ids));
      return { ...kept, more: kept.more || ids.length < asked.length };
    },
  }),
];

/** As many as one answer holds, in the order of arrival: those that are asked for, and the nearest to them. */
function nearest(messages: readonly Message[], ids: ReadonlySet<string>): z.infer<typeof MessageList> {
  const placeOf = ({ saidAt }: Message): number => saidAt.seq;
  const asked = messages.filter(({ id }) => ids.has(id)).map(placeOf);
  const far = (place: number): number => Math.min(...asked.map((one) => Math.abs(one - place)));
  const byDistance = messages
    .map((message) => ({ message, place: placeOf(message), distance: far(placeOf(message)) }))
    .sort((a, b) => a.distance - b.distance || a.place - b.place);
  let characters = 0;
  const kept: { readonly place: number; readonly view: z.infer<typeof MessageList>['results'][number] }[] = [];
  for (const { message, place } of byDistance) {
    const view = nearView(message, ids.has(message.id));
    characters += view.content.length;
    if (kept.length === NEAR_MAX || (kept.length > 0 && characters > NEAR_CHARACTERS_MAX)) break;
    kept.push({ place, view });
  }
  const results = kept.sort((a, b) => a.place - b.place).map(({ view }) => view);
  return { results, more: results.length < messages.length };
}

interface Asked {
  readonly id: string;
  readonly owner: Owner;
}

const EVENT = /^evt_/;

/** The messages that are asked for, all of one owner. A key for one user or app finds its own alone. */
async function askedIn(
  { ledger }: SearchDeps,
  request: FastifyRequest,
  { tenant, id }: { readonly tenant: TenantId; readonly id: string },
): Promise<readonly Asked[]> {
  const ids = EVENT.test(id) ? await sourcesOf({ ledger }, request, { tenant, id }) : [id];
  const scopes = await ledger.lookups.scopes(tenant, ids);
  // An event is of one memory, which is of one owner; so is what it came from.
  const asked = ids.flatMap((one): readonly Asked[] => {
    const scope = scopes.get(one);
    return scope !== undefined && mayKnow(request, scope) ? [{ id: one, owner: ownerOf(scope) }] : [];
  });
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
