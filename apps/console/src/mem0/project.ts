import type { SettingsView, WebhookList, WebhookView, WebhookWithSecret } from '@slowwave/contracts';
import { type App, requestTenant } from '@slowwave/http';
import { z } from 'zod';
import { type Ask, unsupported } from './ask.ts';
import { sent } from './format.ts';

/** Names with their descriptions. */
export const CustomCategories = z.array(z.record(z.string(), z.unknown()));

const ChangeProject = sent({
  custom_instructions: z.string().nullish(),
  custom_categories: CustomCategories.nullish(),
  enable_graph: z.boolean().nullish(),
  agent_custom_instructions: z.unknown().optional(),
  memory_depth: z.unknown().optional(),
  usecase_setting: z.unknown().optional(),
  multilingual: z.boolean().nullish(),
  decay: z.unknown().optional(),
});

const PATH = '/api/v1/orgs/organizations/:org/projects/:project';
const OneProject = z.strictObject({ org: z.string(), project: z.string() });
type Settings = z.infer<typeof SettingsView>;

/** A tenant is one organization with one project; its settings are those of the project. */
export function project(app: App, ask: Ask): void {
  app.get('/v1/ping', async (request) => {
    const tenant = requestTenant(request);
    return { status: 'ok', org_id: tenant, project_id: tenant };
  });
  app.get(PATH, { schema: { params: OneProject, querystring: z.looseObject({}) } }, async (request) =>
    projectView(await ask<Settings>(request, { method: 'GET', path: '/v1/settings' })),
  );
  app.patch(PATH, { schema: { params: OneProject, body: ChangeProject } }, async (request) => {
    refuse(request.body);
    const { custom_instructions, custom_categories, enable_graph } = request.body;
    const known = await ask<Settings>(request, { method: 'GET', path: '/v1/settings' });
    const body = {
      ...known,
      ...(custom_instructions !== undefined && { instructions: custom_instructions || null }),
      ...(custom_categories !== undefined && { categories: custom_categories && namesOf(custom_categories) }),
      ...(enable_graph != null && { graph: enable_graph }),
    };
    await ask(request, { method: 'PUT', path: '/v1/settings', body });
    return { message: 'Updated custom instructions and categories' };
  });
}

const projectView = ({ instructions, categories }: Settings) => ({
  custom_instructions: instructions,
  custom_categories: categories?.map((name) => ({ [name]: '' })) ?? null,
});

export const namesOf = (categories: z.infer<typeof CustomCategories>): readonly string[] =>
  categories.flatMap((category) => Object.keys(category));

function refuse({
  agent_custom_instructions,
  memory_depth,
  usecase_setting,
  decay,
  multilingual,
}: z.infer<typeof ChangeProject>) {
  if (agent_custom_instructions != null) throw unsupported('agent_custom_instructions', 'use custom_instructions');
  if (memory_depth != null) throw unsupported('memory_depth', 'use custom_instructions');
  if (usecase_setting != null) throw unsupported('usecase_setting', 'use custom_instructions');
  if (decay != null) throw unsupported('decay', 'use forgetting in PUT /v1/settings');
  if (multilingual === false)
    throw unsupported('multilingual: false', 'memories are stored in the language of the messages');
}

const EventTypes = z.array(z.enum(['memory_add', 'memory_update', 'memory_delete', 'memory_categorize'])).min(1);
const CreateWebhook = sent({ name: z.string(), url: z.string(), event_types: EventTypes });
const ChangeWebhook = sent({
  name: z.string().optional(),
  url: z.string().optional(),
  event_types: EventTypes.optional(),
});
const OfProject = z.strictObject({ project: z.string() });
const NamedWebhook = z.strictObject({ id: z.string() });
type View = z.infer<typeof WebhookView>;

const OF_PROJECT = '/api/v1/webhooks/projects/:project';
const NAMED = '/api/v1/webhooks/:id';

/** Webhooks in mem0's format; deliveries are as in docs/webhooks.md. A tenant has one project. */
export function webhooks(app: App, ask: Ask): void {
  app.get(OF_PROJECT, { schema: { params: OfProject } }, async (request) => {
    const { results } = await ask<z.infer<typeof WebhookList>>(request, {
      method: 'GET',
      path: '/v1/webhooks?limit=200',
    });
    return results.map((webhook) => viewOf(webhook, requestTenant(request)));
  });
  app.post(OF_PROJECT, { schema: { params: OfProject, body: CreateWebhook } }, async (request) => {
    const { name, url, event_types } = request.body;
    const body = { name, url, events: eventsOf(event_types) };
    const made = await ask<z.infer<typeof WebhookWithSecret>>(request, { method: 'POST', path: '/v1/webhooks', body });
    return { ...viewOf(made, requestTenant(request)), secret: made.secret };
  });
  app.put(NAMED, { schema: { params: NamedWebhook, body: ChangeWebhook } }, async (request) => {
    const { event_types, ...rest } = request.body;
    const body = { ...rest, ...(event_types !== undefined && { events: eventsOf(event_types) }) };
    await ask(request, { method: 'PATCH', path: pathOf(request.params.id), body });
    return { message: 'Webhook updated successfully' };
  });
  app.delete(NAMED, { schema: { params: NamedWebhook } }, async (request) => {
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
