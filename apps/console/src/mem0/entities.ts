import type { UserView } from '@slowwave/contracts';
import { type App, type FastifyRequest, notFound, problem } from '@slowwave/http';
import { z } from 'zod';
import type { Ask } from './ask.ts';
import { everything } from './everything.ts';
import { PageFields } from './fields.ts';
import { mem0Entity, mem0Page } from './views.ts';

const Named = z.strictObject({ type: z.string(), id: z.string() });
const PATH = '/mem0/v1/entities/';

/** Users, agents and runs: who has memories, and everything of one gone. */
export function entities(app: App, ask: Ask): void {
  app.get('/v1/entities', { schema: { querystring: z.looseObject(PageFields) } }, async (request) => {
    const { page, page_size: size } = request.query;
    const all = await everything<UserView>(ask, request, { path: '/v1/users' });
    return mem0Page(all.map(mem0Entity), { page, size, path: PATH });
  });
  for (const path of ['/v1/entities/:type/:id', '/v2/entities/:type/:id']) {
    app.delete(path, { schema: { params: Named } }, async (request) => {
      await erase(ask, request, request.params);
      return { message: `Entity deleted successfully!${STAYS[request.params.type] ?? ''}` };
    });
  }
}

/** At once nothing of it is read any more; its rows go in the background. */
async function erase(ask: Ask, request: FastifyRequest, { type, id }: z.infer<typeof Named>): Promise<void> {
  if (type === 'app') {
    throw problem(
      'invalid_request',
      'an app does not own memories here; delete its users, or their memories with app_id',
    );
  }
  if (type !== 'user' && type !== 'agent' && type !== 'run') throw notFound('kind of entity', type);
  await ask(request, { method: 'DELETE', path: `/v1/${type}s/${encodeURIComponent(id)}` });
}

/** mem0 would delete what only names them as well. */
const STAYS: Readonly<Record<string, string>> = {
  agent: ' What users said to it belongs to them and is kept.',
  run: ' What users or agents said in it belongs to them and is kept.',
};
