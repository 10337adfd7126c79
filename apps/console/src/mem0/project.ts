import type { SettingsView } from '@slowwave/contracts';
import { type App, requestTenant } from '@slowwave/http';
import { z } from 'zod';
import type { Ask } from './ask.ts';
import { unsupported } from './errors.ts';

const ChangeBody = z.strictObject({
  custom_instructions: z.string().nullish(),
  custom_categories: z.array(z.record(z.string(), z.unknown())).nullish(),
  version: z.unknown().optional(),
  agent_custom_instructions: z.unknown().optional(),
  memory_depth: z.unknown().optional(),
  usecase_setting: z.unknown().optional(),
  multilingual: z.boolean().nullish(),
  decay: z.unknown().optional(),
});

const PATH = '/api/v1/orgs/organizations/:org/projects/:project';
const Place = z.strictObject({ org: z.string(), project: z.string() });
type Settings = z.infer<typeof SettingsView>;

/** A tenant is one organization with one project; its settings are those of the project. */
export function project(app: App, ask: Ask): void {
  app.get('/v1/ping', async (request) => {
    const tenant = requestTenant(request);
    return { status: 'ok', org_id: tenant, project_id: tenant };
  });
  app.get(PATH, { schema: { params: Place, querystring: z.looseObject({}) } }, async (request) =>
    projectOf(await ask<Settings>(request, { method: 'GET', path: '/v1/settings' })),
  );
  app.patch(PATH, { schema: { params: Place, body: ChangeBody } }, async (request) => {
    refuse(request.body);
    const { custom_instructions, custom_categories } = request.body;
    const known = await ask<Settings>(request, { method: 'GET', path: '/v1/settings' });
    const body = {
      ...known,
      ...(custom_instructions !== undefined && { instructions: custom_instructions }),
      ...(custom_categories !== undefined && { categories: namesOf(custom_categories) }),
    };
    await ask(request, { method: 'PUT', path: '/v1/settings', body });
    return { message: 'Updated custom instructions and categories' };
  });
}

const projectOf = ({ instructions, categories }: Settings) => ({
  custom_instructions: instructions,
  custom_categories: categories?.map((name) => ({ [name]: '' })) ?? null,
});

const namesOf = (categories: readonly Readonly<Record<string, unknown>>[] | null): readonly string[] | null =>
  categories === null ? null : categories.flatMap((category) => Object.keys(category));

function refuse({
  agent_custom_instructions,
  memory_depth,
  usecase_setting,
  decay,
  multilingual,
}: z.infer<typeof ChangeBody>) {
  if (agent_custom_instructions != null) throw unsupported('agent_custom_instructions', 'use custom_instructions');
  if (memory_depth != null) throw unsupported('memory_depth', 'use custom_instructions');
  if (usecase_setting != null) throw unsupported('usecase_setting', 'use custom_instructions');
  if (decay != null) throw unsupported('decay', 'use forgetting in PUT /v1/settings');
  if (multilingual === false)
    throw unsupported('multilingual: false', 'memories are stored in the language of the messages');
}
