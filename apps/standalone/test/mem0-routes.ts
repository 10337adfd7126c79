import { mem0Routes } from '@slowwave/console';
import { createShell, Registry, type ShellOptions } from '@slowwave/http';

/** What a request of a route may say: a path with what stands in it, and a body. */
export interface Mem0Request {
  readonly route: string;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

/** Every route under /mem0, as the product registers them. */
export async function mem0RouteNames(): Promise<readonly string[]> {
  const app = await createShell(SHELL);
  const names = new Set<string>();
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) if (one !== 'HEAD') names.add(`${one} ${url}`);
  });
  await app.register(mem0Routes(SHELL, [], { reset: true }));
  await app.close();
  return [...names].filter((name) => name.includes(' /mem0/')).sort();
}

const nothing = (): void => {};

const SHELL: ShellOptions = {
  name: 'mem0',
  auth: { apiKey: null, keys: null },
  log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  runsOn: {},
  ready: {},
  keyRate: null,
  metrics: new Registry(),
};

interface Meant {
  /** Whose memories: ids of mem0's, as a body names them. */
  readonly ids: Readonly<Record<string, string>>;
  readonly memory: string;
  readonly batch: string;
  readonly webhook: string;
}

type Sample = (meant: Meant) => readonly Omit<Mem0Request, 'route' | 'method'>[];

const said = [{ role: 'user', content: 'I moved to Paris' }];
const queryOf = (ids: Meant['ids']): string => new URLSearchParams(ids).toString();
const withFilters =
  (path: string, more: object = {}): Sample =>
  ({ ids }) => [
    { path, body: { ...more, ...ids } },
    { path, body: { ...more, filters: ids } },
    { path, body: { ...more, filters: { OR: Object.entries(ids).map(([name, id]) => ({ [name]: id })) } } },
  ];
const ofMemory =
  (path: string, body?: object): Sample =>
  ({ memory }) => [{ path: path.replace(':id', memory), ...(body && { body }) }];
const asked =
  (path: string): Sample =>
  ({ ids }) => [{ path: `${path}?${queryOf(ids)}` }];
const just =
  (path: string, body?: object): Sample =>
  () => [{ path, ...(body && { body }) }];
const added = (path: string): Sample => withFilters(path, { messages: said, infer: false });
const entity =
  (version: string): Sample =>
  ({ ids }) =>
    Object.entries(ids).map(([name, id]) => ({
      path: `/${version}/entities/${name.replace('_id', '')}/${encodeURIComponent(id)}`,
    }));
const project = '/api/v1/orgs/organizations/x/projects/x';
const hook = { name: 'h', url: 'https://receiver.example/', event_types: ['memory_add'] };

/** How each route is tried. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  'GET /mem0/v1/ping': just('/v1/ping'),
  'GET /mem0/api/v1/orgs/organizations/:org/projects/:project': just(project),
  'PATCH /mem0/api/v1/orgs/organizations/:org/projects/:project': just(project, { custom_instructions: 'Forget all.' }),
  'POST /mem0/v3/memories/add': added('/v3/memories/add'),
  'POST /mem0/v1/memories': added('/v1/memories'),
  'POST /mem0/memories': added('/memories'),
  'POST /mem0/v3/memories/search': withFilters('/v3/memories/search', { query: 'where' }),
  'POST /mem0/v2/memories/search': withFilters('/v2/memories/search', { query: 'where' }),
  'POST /mem0/v1/memories/search': withFilters('/v1/memories/search', { query: 'where' }),
  'POST /mem0/search': withFilters('/search', { query: 'where' }),
  'POST /mem0/v3/memories': withFilters('/v3/memories'),
  'POST /mem0/v2/memories': withFilters('/v2/memories'),
  'GET /mem0/v1/memories': asked('/v1/memories'),
  'GET /mem0/memories': asked('/memories'),
  'DELETE /mem0/v1/memories': asked('/v1/memories'),
  'DELETE /mem0/memories': asked('/memories'),
  ...Object.fromEntries(
    ['/v1/memories', '/memories'].flatMap((at) => [
      [`GET /mem0${at}/:id`, ofMemory(`${at}/:id`)],
      [`GET /mem0${at}/:id/history`, ofMemory(`${at}/:id/history`)],
      [`PUT /mem0${at}/:id`, ofMemory(`${at}/:id`, { text: 'Moved to Paris' })],
      [`DELETE /mem0${at}/:id`, ofMemory(`${at}/:id`)],
    ]),
  ),
  'PUT /mem0/v1/batch': ({ memory }) => [
    { path: '/v1/batch', body: { memories: [{ memory_id: memory, text: 'Moved to Paris' }] } },
  ],
  'DELETE /mem0/v1/batch': ({ memory }) => [{ path: '/v1/batch', body: { memories: [{ memory_id: memory }] } }],
  'GET /mem0/v1/entities': just('/v1/entities'),
  'DELETE /mem0/v1/entities/:type/:id': entity('v1'),
  'DELETE /mem0/v2/entities/:type/:id': entity('v2'),
  'GET /mem0/v1/event/:id': ({ batch }) => [{ path: `/v1/event/${batch}` }],
  'GET /mem0/v1/events': just('/v1/events'),
  'POST /mem0/v1/feedback': ({ memory }) => [
    { path: '/v1/feedback', body: { memory_id: memory, feedback: 'VERY_NEGATIVE' } },
  ],
  'POST /mem0/v1/exports': withFilters('/v1/exports', { schema: {} }),
  'POST /mem0/v1/exports/get': withFilters('/v1/exports/get'),
  'POST /mem0/v1/summary': withFilters('/v1/summary'),
  'GET /mem0/api/v1/webhooks/projects/:project': just('/api/v1/webhooks/projects/x'),
  'POST /mem0/api/v1/webhooks/projects/:project': just('/api/v1/webhooks/projects/x', hook),
  'PUT /mem0/api/v1/webhooks/:id': ({ webhook }) => [{ path: `/api/v1/webhooks/${webhook}`, body: { name: 'taken' } }],
  'DELETE /mem0/api/v1/webhooks/:id': ({ webhook }) => [{ path: `/api/v1/webhooks/${webhook}` }],
  'POST /mem0/reset': just('/reset'),
};

export const sampledRoutes = (): readonly string[] => Object.keys(SAMPLES).sort();

/** Every route, about all that is meant. */
export const mem0Requests = (meant: Meant): readonly Mem0Request[] =>
  Object.entries(SAMPLES).flatMap(([route, sample]) =>
    sample(meant).map((one) => ({ ...one, route, method: route.split(' ')[0] ?? '' })),
  );
