import { STATUS_CODES } from 'node:http';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { RouteOptions } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { needScope } from './access.ts';
import { allowPages } from './sessions.ts';
import type { App, Routes } from './shell.ts';

/** Collects the description of every route added after it, for /openapi.json and /docs. */
export async function registerDocs(app: App, name: string, home: Routes = docsHome): Promise<void> {
  // One process that does everything is named after the product itself.
  const title = name === 'slowwave' ? 'Slowwave' : `Slowwave ${name}`;
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title, ...ABOUT },
      servers: SERVERS,
      tags: TAGS,
      components: { securitySchemes: SECURITY_SCHEMES },
      security: [{ [SECURITY_SCHEME]: [] }],
    },
    transform: (document) => withOpenness(jsonSchemaTransform(document), document.route),
    transformObject: (document) => tidy(jsonSchemaTransformObject(document)),
  });
  const schema = { operationId: 'getDescription', tags: ['health'], summary: 'Get this description' };
  app.get('/openapi.json', { schema, config: { scope: 'any' } }, async () => app.swagger());
  await app.register(docsPages);
  await app.register(home);
}

const docsPages: Routes = async (app) => {
  allowPages(app);
  needScope(app, 'any');
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { validatorUrl: null, deepLinking: true },
    theme: { title: 'Slowwave API', css: [{ filename: 'slowwave.css', content: WITHOUT_BAR }] },
  });
};

/** People who open a server without pages of its own get the documentation. */
const docsHome: Routes = async (app) => {
  allowPages(app);
  needScope(app, 'any');
  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/docs/'));
};

/** Hides the bar at the top, which loads descriptions of other services. */
const WITHOUT_BAR = '.swagger-ui .topbar { display: none }';

type DescribedRoute = ReturnType<typeof jsonSchemaTransform>;

/** Marks routes that need no key. */
function withOpenness({ schema, url }: DescribedRoute, { config }: RouteOptions): DescribedRoute {
  return config?.open === true && schema !== undefined ? { schema: { ...schema, security: [] }, url } : { schema, url };
}

/** The description of the API as a whole. */
const ABOUT = {
  version: '1',
  description: 'Long-term memory for agents: post transcripts, search memories. Errors are RFC 9457 problem documents.',
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
};

/** Relative: readers of the description have reached the server. */
const SERVERS = [{ url: '/', description: 'The server that serves this description' }];

const SECURITY_SCHEME = 'key';

const SECURITY_SCHEMES = {
  [SECURITY_SCHEME]: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A key with the scope that the operation requires; admin includes all scopes. `Authorization: Token <key>` ' +
      'and `X-API-Key: <key>` are accepted as well. If the server has no keys, requests from its own machine need ' +
      'none.',
  },
} as const;

/** Groups of operations; a process only describes the groups that it has. */
const TAGS = [
  { name: 'ingest', description: 'Post messages and track their processing.' },
  { name: 'search', description: 'Search memories and get answers and context from them.' },
  { name: 'memories', description: 'Read memories, their sources and their owners.' },
  { name: 'receipts', description: 'Which memories answers used, and what the answers led to.' },
  {
    name: 'manage',
    description: 'Write memories, review and undo changes, erase data, change settings, replay batches.',
  },
  { name: 'profile', description: 'Profiles of users, in slots.' },
  { name: 'runs', description: 'State of runs: plans, results and pending approvals.' },
  { name: 'graph', description: 'Entities and their relations.' },
  { name: 'webhooks', description: 'Notify other programs of events.' },
  { name: 'keys', description: 'API keys and what they may do.' },
  { name: 'subjects', description: 'Links to people’s own pages, and pausing memory for a user.' },
  { name: 'cold', description: 'Owners that sleep in segments outside the ledger.' },
  { name: 'bundle', description: 'Move owners with all their data from one installation to another.' },
  {
    name: 'cells',
    description: 'Several installations behind a router: the requests that routers and the directory send to a cell.',
  },
  { name: 'audit', description: 'The audit log.' },
  { name: 'health', description: 'Health, metrics and this description.' },
];

const SCHEMAS = '#/components/schemas/';
/** Where the schema generator puts "any JSON value", under a name that is not a valid reference. */
const ANY_JSON = `${SCHEMAS}__shared`;

type Named = Readonly<Record<string, unknown>>;
type Methods = Readonly<Record<string, Operation>>;

interface Described {
  readonly components?: { readonly schemas?: Named };
  readonly paths?: Readonly<Record<string, Methods>>;
  readonly tags?: readonly { readonly name: string }[];
}

/**
 * The description with all responses of every operation, valid references, and only the groups and schemas that are used.
 */
function tidy<D extends object>(document: D): D {
  const { components = {}, paths = {}, tags = [], ...rest } = withReferences(document, readable) as Described;
  const complete = { ...components, responses: REFUSALS };
  const operations = Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [path, answered(path, methods)]),
  );
  const usedTags = new Set(Object.values(operations).flatMap((methods) => Object.values(methods).flatMap(tagsOf)));
  const { schemas = {} } = components;
  const used = reachable({ ...complete, schemas: {}, operations }, schemas);
  const kept = Object.entries(schemas)
    .filter(([name]) => used.has(name))
    .map(([name, one]) => [name, withExamples(name, one as object)] as const);
  const all = {
    ...rest,
    tags: tags.filter(({ name }) => usedTags.has(name)),
    paths: operations,
    components: { ...complete, schemas: Object.fromEntries(kept.map(([name, one]) => [plain(name, used), one])) },
  };
  return withReferences(all, (reference) => ({ $ref: SCHEMAS + plain(reference.slice(SCHEMAS.length), used) })) as D;
}

/** Zod drops the examples of a body of which anything is transformed as it is read. They show what is sent, as the others do. */
function withExamples(name: string, schema: object): object {
  const source = z.globalRegistry._idmap.get(name) ?? z.globalRegistry._idmap.get(name.replace(/Input$/, ''));
  const examples = source === undefined ? undefined : z.globalRegistry.get(source)?.examples;
  return examples === undefined || 'examples' in schema ? schema : { ...schema, examples };
}

/** A request schema keeps the suffix Input only if there is a response schema of the same name. */
function plain(name: string, used: ReadonlySet<string>): string {
  const short = name.replace(/Input$/, '');
  return used.has(short) ? name : short;
}

const answered = (path: string, methods: Methods): Methods =>
  Object.fromEntries(Object.entries(methods).map(([method, one]) => [method, withRefusals(path, one)]));

const tagsOf = ({ tags = [] }: Operation): readonly string[] => tags;

const readable = (reference: string): object =>
  reference.startsWith(ANY_JSON) ? { description: 'Any JSON value' } : { $ref: reference };

/** The value with each reference to a schema replaced. */
function withReferences(value: unknown, replace: (reference: string) => object): unknown {
  if (Array.isArray(value)) return value.map((one) => withReferences(one, replace));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...others } = value as { readonly $ref?: unknown };
  const own = typeof $ref === 'string' && $ref.startsWith(SCHEMAS) ? replace($ref) : $ref === undefined ? {} : { $ref };
  const rest = Object.entries(others).map(([key, child]) => [key, withReferences(child, replace)]);
  return { ...own, ...Object.fromEntries(rest) };
}

function reachable(root: unknown, schemas: Named): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    for (const name of namesIn(value)) {
      if (seen.has(name)) continue;
      seen.add(name);
      open.push(schemas[name]);
    }
  }
  return seen;
}

function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own =
    '$ref' in value && String(value.$ref).startsWith(SCHEMAS) ? [String(value.$ref).slice(SCHEMAS.length)] : [];
  return [...own, ...Object.values(value).flatMap(namesIn)];
}

const PROBLEM = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
const RETRY_AFTER = {
  'retry-after': { description: 'The number of seconds to wait before retrying', schema: { type: 'integer' } },
};

/** How operations refuse, by status; defined once for all. */
const REFUSALS = {
  BadRequest: { description: 'The request is not valid; `errors` lists the fields', content: PROBLEM },
  Unauthorized: { description: 'The key is missing or not valid', content: PROBLEM },
  Forbidden: { description: 'The key does not allow this operation', content: PROBLEM },
  NotFound: { description: 'It does not exist, or this key has no access to it', content: PROBLEM },
  BodyTooLarge: { description: 'The body is too large', content: PROBLEM },
  UnsupportedMediaType: { description: 'The body is not application/json', content: PROBLEM },
  TooManyRequests: { description: 'Too many requests; wait before retrying', headers: RETRY_AFTER, content: PROBLEM },
  Refused: { description: 'The request could not be parsed', content: PROBLEM },
  Problem: { description: 'What went wrong, with a stable code', content: PROBLEM },
};

/** The parts of an operation that determine its responses. */
interface Operation {
  readonly tags?: readonly string[];
  readonly requestBody?: unknown;
  readonly security?: readonly unknown[];
  readonly responses?: Readonly<Record<string, { readonly description?: string }>>;
}

/** The operation with every possible response; its own ones come first. */
function withRefusals<O extends Operation>(path: string, operation: O): O {
  const refusals = Object.entries(refusalsOf(path, operation)).map(([status, name]) => [
    status,
    { $ref: `#/components/responses/${name}` },
  ]);
  const own = Object.entries(operation.responses ?? {}).map(([status, answer]) => [status, named(status, answer)]);
  return { ...operation, responses: { ...Object.fromEntries(refusals), ...Object.fromEntries(own) } };
}

function refusalsOf(path: string, { requestBody, security }: Operation): Record<string, keyof typeof REFUSALS> {
  // Open operations neither authenticate nor validate.
  if (security?.length === 0) return { '4XX': 'Refused', default: 'Problem' };
  return {
    400: 'BadRequest',
    401: 'Unauthorized',
    403: 'Forbidden',
    ...(path.includes('{') && { 404: 'NotFound' as const }),
    ...(requestBody !== undefined && { 413: 'BodyTooLarge' as const, 415: 'UnsupportedMediaType' as const }),
    429: 'TooManyRequests',
    default: 'Problem',
  };
}

const UNNAMED = 'Default Response';

/** Responses without a description get the name of their status. */
const named = <A extends { readonly description?: string }>(status: string, answer: A): A =>
  answer.description === undefined || answer.description === UNNAMED
    ? { ...answer, description: STATUS_CODES[status] ?? status }
    : answer;
