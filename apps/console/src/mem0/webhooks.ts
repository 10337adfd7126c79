import type { WebhookList, WebhookView, WebhookWithSecret } from '@slowwave/contracts';
import { type App, requestTenant } from '@slowwave/http';
import { z } from 'zod';
import type { Ask } from './ask.ts';
import { unsupported } from './errors.ts';

const EventTypes = z.array(z.enum(['memory_add', 'memory_update', 'memory_delete', 'memory_categorize'])).min(1);
const CreateBody = z.strictObject({ name: z.string(), url: z.string(), event_types: EventTypes });
const ChangeBody = z.strictObject({
  name: z.string().optional(),
  url: z.string().optional(),
  event_types: EventTypes.optional(),
});
const OfProject = z.strictObject({ project: z.string() });
const Named = z.strictObject({ id: z.string() });
type View = z.infer<typeof WebhookView>;

const OF_PROJECT = '/api/v1/webhooks/projects/:project';
const NAMED = '/api/v1/webhooks/:id';

/** Registered as mem0's clients do; what is sent is as in docs/webhooks.md. A tenant has one project. */
export function webhooks(app: App, ask: Ask): void {
  app.get(OF_PROJECT, { schema: { params: OfProject } }, async (request) => {
    const { results } = await ask<z.infer<typeof WebhookList>>(request, {
      method: 'GET',
      path: '/v1/webhooks?limit=200',
    });
    return results.map((webhook) => viewOf(webhook, requestTenant(request)));
  });
  app.post(OF_PROJECT, { schema: { params: OfProject, body: CreateBody } }, async (request) => {
    const { name, url, event_types } = request.body;
    const body = { name, url, events: eventsOf(event_types) };
    const made = await ask<z.infer<typeof WebhookWithSecret>>(request, { method: 'POST', path: '/v1/webhooks', body });
    return { ...viewOf(made, requestTenant(request)), secret: made.secret };
  });
  app.put(NAMED, { schema: { params: Named, body: ChangeBody } }, async (request) => {
    const { event_types, ...rest } = request.body;
    const body = { ...rest, ...(event_types !== undefined && { events: eventsOf(event_types) }) };
    await ask(request, { method: 'PATCH', path: pathOf(request.params.id), body });
    return { message: 'Webhook updated successfully' };
  });
  app.delete(NAMED, { schema: { params: Named } }, async (request) => {
    await ask(request, { method: 'DELETE', path: pathOf(request.params.id) });
    return { message: 'Webhook deleted successfully' };
  });
}

const pathOf = (id: string): string => `/v1/webhooks/${encodeURIComponent(id)}`;

const EVENTS = {
  memory_add: 'memory.added',
  memory_update: 'memory.updated',
  memory_delete: 'memory.deleted',
} as const;

function eventsOf(types: z.infer<typeof EventTypes>): string[] {
  return types.map((type) => {
    if (type === 'memory_categorize')
      throw unsupported('memory_categorize', 'use memory_add, which includes the categories');
    return EVENTS[type];
  });
}

const viewOf = (webhook: View, project: string) => ({
  webhook_id: webhook.id,
  name: webhook.name,
  url: webhook.url,
  project,
  event_types: webhook.events.map((event) => TYPES[event] ?? event),
  is_active: webhook.active,
  created_at: webhook.created_at,
  updated_at: webhook.updated_at,
});

const TYPES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(EVENTS).map(([type, event]) => [event, type]),
);
