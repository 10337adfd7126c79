import type { Owner } from '@slowwave/engine';
import { ownerInFilter, USER_HEADER } from '@slowwave/http';
import type { Asked } from './send.ts';

/**
 * To which cells a request goes:
 *
 * owner  to the cell of the owner that it names: in its body, its query, its path or the header x-slowwave-user, or by its key.
 *        Where it erases a user, the tenant's home forgets the keys, links and webhooks of that user, too
 * id     to the cell of the owner of the thing that its path or query names, by the bits in the id
 * home   to the home cell of the tenant. What it changes is copied to the other cells before it is answered
 * all    to every cell: what they answer is put together
 * found  to one cell after the other, until one knows what its path names
 * cell   to the cell that the header x-slowwave-cell names, else to the first: it is about that cell alone
 * none   to no cell: the router answers by the directory
 */
export type RouteClass =
  | { readonly to: 'owner'; readonly named: OwnerNamed; readonly else?: 'all' | 'home'; readonly erases?: true }
  | { readonly to: 'id'; readonly in?: { readonly query: string } }
  | { readonly to: 'home'; readonly tenant?: TenantNamed }
  | { readonly to: 'all'; readonly merge: Merge }
  | { readonly to: 'found' }
  | { readonly to: 'cell' }
  | { readonly to: 'none' };

/**
 * Where a request has its owner. scope: as user_id, agent_id and run_id of body or query, of which the first counts. user, agent, run: the
 * path has its id. task: like scope in the query, else the run of the path. filter: as scope in the field `filter`. bundled: as kind
 * and id of body or query, with the tenant beside them.
 */
type OwnerNamed = 'scope' | 'user' | 'agent' | 'run' | 'task' | 'filter' | 'bundled';

/** Whose home is meant, where a request may name another tenant than that of its key. */
type TenantNamed = 'body' | 'query' | 'path';

/**
 * list: walked cell by cell, with a cursor that names the cell. whole: lists without pages, one after the other. sums: numbers are
 * added, lists put one after the other. groups: rows that differ in numbers only become one.
 */
export type Merge = 'list' | 'whole' | 'sums' | 'groups';

const OF_ID: RouteClass = { to: 'id' };
const OF_SCOPE: RouteClass = { to: 'owner', named: 'scope', else: 'home' };
const OF_SCOPE_OR_ALL: RouteClass = { to: 'owner', named: 'scope', else: 'all' };
const OF_USER: RouteClass = { to: 'owner', named: 'user' };
const OF_TASK: RouteClass = { to: 'owner', named: 'task' };
const HOME: RouteClass = { to: 'home' };
const LIST: RouteClass = { to: 'all', merge: 'list' };
const SUMS: RouteClass = { to: 'all', merge: 'sums' };
const FOUND: RouteClass = { to: 'found' };
const CELL: RouteClass = { to: 'cell' };
const OF_BUNDLED: RouteClass = { to: 'owner', named: 'bundled', else: 'home' };

/** Every route of the API stands here once. */
export const CLASSES: Readonly<Record<string, RouteClass>> = {
  'POST /v1/batches': OF_SCOPE,
  'GET /v1/batches': OF_SCOPE_OR_ALL,
  'GET /v1/batches/{id}': OF_ID,
  'POST /v1/flush': OF_SCOPE,
  'POST /v1/search': OF_SCOPE,
  'POST /v1/context': OF_SCOPE,
  'POST /v1/recall': OF_SCOPE,
  'GET /v1/memories': OF_SCOPE,
  'POST /v1/memories': OF_SCOPE,
  'DELETE /v1/memories': OF_SCOPE,
  'GET /v1/memories/{id}': OF_ID,
  'PATCH /v1/memories/{id}': OF_ID,
  'DELETE /v1/memories/{id}': OF_ID,
  'GET /v1/memories/{id}/history': OF_ID,
  'GET /v1/memories/{id}/sources': OF_ID,
  'GET /v1/memories/{id}/receipts': OF_ID,
  'POST /v1/memories/{id}/restore': OF_ID,
  'POST /v1/memories/{id}/feedback': OF_ID,
  'GET /v1/messages': { to: 'id', in: { query: 'around' } },
  'GET /v1/receipts/{id}': OF_ID,
  'POST /v1/receipts/{id}/outcome': OF_ID,
  'GET /v1/users': LIST,
  'GET /v1/ids': LIST,
  'GET /v1/ids/memories': LIST,
  'DELETE /v1/ids/memories': SUMS,
  'GET /v1/stats': SUMS,
  'GET /v1/overview': SUMS,
  'GET /v1/usage': { to: 'all', merge: 'groups' },
  'POST /v1/usage/forecast': SUMS,
  'GET /v1/drift': CELL,
  'GET /v1/cells': { to: 'none' },

  'GET /v1/graph': OF_SCOPE,
  'POST /v1/graph/query': OF_SCOPE,
  'GET /v1/graph/proposals': OF_SCOPE,
  'GET /v1/entities': OF_SCOPE,
  'GET /v1/entities/{id}': OF_ID,
  'PATCH /v1/entities/{id}': OF_ID,
  'GET /v1/entities/{id}/history': OF_ID,
  'POST /v1/entities/{id}/merge': OF_ID,
  'POST /v1/entities/{id}/split': OF_ID,
  'GET /v1/relations': OF_SCOPE,
  'POST /v1/relations': OF_SCOPE,
  'GET /v1/relations/{id}': OF_ID,
  'PATCH /v1/relations/{id}': OF_ID,
  'DELETE /v1/relations/{id}': OF_ID,
  'GET /v1/relations/{id}/history': OF_ID,

  'GET /v1/session': HOME,
  'POST /v1/session': HOME,
  'POST /v1/session/renew': HOME,

  'GET /v1/runs': OF_SCOPE_OR_ALL,
  'GET /v1/runs/{id}/state': OF_TASK,
  'PUT /v1/runs/{id}/state': OF_TASK,
  'PATCH /v1/runs/{id}/state': OF_TASK,
  'GET /v1/runs/{id}/state/history': OF_TASK,
  'POST /v1/runs/{id}/end': OF_TASK,

  'GET /v1/consolidations': OF_SCOPE_OR_ALL,
  'GET /v1/consolidations/{id}': OF_ID,
  'GET /v1/consolidations/{id}/prompts': OF_ID,
  'GET /v1/consolidations/{id}/graph': OF_ID,
  'POST /v1/consolidations/{id}/graph': OF_ID,
  'POST /v1/consolidations/{id}/undo': OF_ID,
  'POST /v1/consolidations/preview': OF_SCOPE,
  'GET /v1/undos': OF_SCOPE_OR_ALL,
  'POST /v1/undos/{id}/redo': OF_ID,
  'GET /v1/nights': OF_SCOPE_OR_ALL,
  'GET /v1/nights/{id}': OF_ID,
  'POST /v1/nights/{id}': OF_ID,
  'GET /v1/reviews': OF_SCOPE_OR_ALL,
  'POST /v1/reviews/{id}': OF_ID,
  'GET /v1/parked': { to: 'all', merge: 'sums' },

  'GET /v1/users/{id}/profile': OF_USER,
  'PUT /v1/users/{id}/profile/{slot}': OF_USER,
  'DELETE /v1/users/{id}/profile/{slot}/{memory}': OF_USER,
  'POST /v1/users/{id}/rollback': OF_USER,
  'GET /v1/users/{id}/without-nights': OF_USER,
  'GET /v1/users/{id}/export': OF_USER,
  'GET /v1/users/{id}/pause': OF_USER,
  'PUT /v1/users/{id}/pause': OF_USER,
  'DELETE /v1/users/{id}/pause': OF_USER,
  'DELETE /v1/users/{id}': { to: 'owner', named: 'user', erases: true },
  'DELETE /v1/agents/{id}': { to: 'owner', named: 'agent' },
  'DELETE /v1/runs/{id}': { to: 'owner', named: 'run' },
  // A link is a key, which is exchanged where keys are.
  'POST /v1/users/{id}/links': HOME,
  'DELETE /v1/users/{id}/links': HOME,
  'GET /v1/erasures': { to: 'all', merge: 'whole' },
  'GET /v1/erasures/{id}': FOUND,

  'GET /v1/settings': HOME,
  'PUT /v1/settings': HOME,
  'POST /v1/retention/preview': SUMS,
  'POST /v1/webhooks': HOME,
  'GET /v1/webhooks': HOME,
  'GET /v1/webhooks/{id}': HOME,
  'PATCH /v1/webhooks/{id}': HOME,
  'DELETE /v1/webhooks/{id}': HOME,
  // Each cell sends what happens in it.
  'GET /v1/webhooks/{id}/deliveries': LIST,
  'POST /v1/webhooks/{id}/deliveries/replay': SUMS,
  'POST /v1/webhooks/{id}/deliveries/{delivery_id}/replay': FOUND,
  'POST /v1/keys': { to: 'home', tenant: 'body' },
  'GET /v1/keys': { to: 'home', tenant: 'query' },
  'POST /v1/keys/{id}/rotate': { to: 'home', tenant: 'body' },
  'DELETE /v1/keys/{id}': { to: 'home', tenant: 'query' },
  'GET /v1/tenants/{id}/ceilings': { to: 'home', tenant: 'path' },
  'PUT /v1/tenants/{id}/ceilings': { to: 'home', tenant: 'path' },
  'DELETE /v1/tenants/{id}/ceilings': { to: 'home', tenant: 'path' },
  'GET /v1/audit': LIST,
  'GET /v1/holds': LIST,
  'POST /v1/holds/{id}/release': FOUND,

  // What works on many owners works on those of one cell.
  'POST /v1/replays': { to: 'owner', named: 'filter', else: 'home' },
  'GET /v1/replays': LIST,
  'GET /v1/replays/{id}': FOUND,
  'DELETE /v1/replays/{id}': FOUND,
  'POST /v1/suites': HOME,
  'GET /v1/suites': HOME,
  'GET /v1/suites/{name}': HOME,
  'DELETE /v1/suites/{name}': HOME,
  'PUT /v1/suites/{name}/margins': HOME,
  'GET /v1/suites/{name}/export': HOME,
  'POST /v1/suites/{name}/runs': HOME,
  'GET /v1/suites/{name}/runs': HOME,
  'GET /v1/suites/{name}/runs/{id}': HOME,
  'GET /v1/suites/{name}/runs/{id}/sample': HOME,
  'POST /v1/suites/{name}/runs/{id}/assessments': HOME,
  'POST /v1/canaries': HOME,
  'GET /v1/canaries': HOME,
  'GET /v1/canaries/{id}': HOME,
  'POST /v1/canaries/{id}/stop': HOME,
  'POST /v1/canaries/{id}/promote': HOME,
  'POST /v1/canaries/{id}/undo': HOME,

  'GET /v1/cold': LIST,
  'POST /v1/cold/cool': OF_BUNDLED,
  'POST /v1/cold/wake': OF_BUNDLED,
  'POST /v1/cold/sweep': CELL,

  'GET /v1/doctor': CELL,
  'GET /v1/models': CELL,
  'GET /v1/index/move': CELL,
  'POST /v1/index/move': CELL,
  'PATCH /v1/index/move': CELL,
  'GET /v1/bundle': { to: 'home', tenant: 'query' },
  'GET /v1/bundle/owners': LIST,
  'GET /v1/bundle/lines': OF_BUNDLED,
  'GET /v1/bundle/erasures': LIST,
  'POST /v1/bundle/erasures': { to: 'all', merge: 'sums' },
  'PUT /v1/bundle/settings': { to: 'home', tenant: 'body' },
  'POST /v1/bundle/imports': OF_BUNDLED,
  'POST /v1/bundle/imports/{id}/lines': FOUND,
  'POST /v1/bundle/imports/{id}/finish': FOUND,
  'DELETE /v1/bundle/imports/{id}': FOUND,
};

/** What the API of a cell itself begins with: it goes to the cell that is named, and nowhere else. */
export const OF_CELLS = '/v1/cell';

/** A request whose route is known. */
export interface Routed {
  readonly route: RouteClass;
  /** What stands in the place of the parameters of the path, by their names. */
  readonly params: Readonly<Record<string, string>>;
}

interface Pattern {
  readonly parts: readonly string[];
  readonly route: RouteClass;
}

const PATTERNS: ReadonlyMap<string, readonly Pattern[]> = Map.groupBy(
  Object.entries(CLASSES).map(([line, route]) => {
    const [method = '', path = ''] = line.split(' ');
    return { method, parts: path.split('/'), route };
  }),
  ({ method, parts }) => `${method} ${parts.length}`,
);

/** The route of a request to the API; null: there is none. A route without parameters comes before one with. */
export function routeOf(method: string, path: string): Routed | null {
  const asked = path.split('/');
  const fitting = (PATTERNS.get(`${method} ${asked.length}`) ?? []).flatMap(({ parts, route }) => {
    const params = paramsOf(parts, asked);
    return params === null ? [] : [{ route, params }];
  });
  return fitting.sort((a, b) => Object.keys(a.params).length - Object.keys(b.params).length)[0] ?? null;
}

function paramsOf(parts: readonly string[], asked: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {};
  for (const [i, part] of parts.entries()) {
    const given = asked[i] ?? '';
    if (part.startsWith('{')) params[part.slice(1, -1)] = given;
    else if (part !== given) return null;
  }
  return params;
}

type Fields = Readonly<Record<string, unknown>>;

/** What the body says, as far as it is a JSON object: what is wrong with it is for the cell to say. */
function fieldsOf({ body }: Pick<Asked, 'body'>): Fields {
  if (body.length === 0) return {};
  try {
    return objectIn(JSON.parse(body.toString()));
  } catch {
    return {};
  }
}

const objectIn = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

const textIn = (fields: Fields, name: string): string | null => {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : null;
};

interface Naming {
  readonly asked: Asked;
  readonly params: Readonly<Record<string, string>>;
}

/** The owner that a request names, where its route has it; null: none. */
export function ownerIn(named: OwnerNamed, { asked, params }: Naming): Owner | null {
  switch (named) {
    case 'scope': {
      const fields = fieldsOf(asked);
      const inQuery = ownerOfFields(Object.fromEntries(asked.query));
      return inQuery ?? ownerOfFields(fields) ?? ownerInFilter(fields.filters) ?? userInHeader(asked);
    }
    case 'filter':
      return ownerOfFields(objectIn(fieldsOf(asked).filter));
    case 'task':
      return ownerOfFields({ ...Object.fromEntries(asked.query), run_id: decoded(params.id ?? '') });
    case 'bundled': {
      const fields = { ...fieldsOf(asked), ...Object.fromEntries(asked.query) };
      const [kind, id] = [textIn(fields, 'kind'), textIn(fields, 'id')];
      return id !== null && (kind === 'user' || kind === 'agent' || kind === 'run') ? { kind, id } : null;
    }
    default:
      return { kind: named, id: decoded(params.id ?? '') };
  }
}

/** The first of user, agent and run. */
function ownerOfFields(fields: Fields): Owner | null {
  for (const kind of ['user', 'agent', 'run'] as const) {
    const id = textIn(fields, `${kind}_id`);
    if (id !== null) return { kind, id };
  }
  return null;
}

function userInHeader({ headers }: Asked): Owner | null {
  const sent = headers[USER_HEADER];
  return sent === undefined ? null : { kind: 'user', id: decoded(String(sent)) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Another tenant than that of the key, if the request names one. */
export function tenantIn(named: TenantNamed | undefined, { asked, params }: Naming): string | null {
  switch (named) {
    case undefined:
      return null;
    case 'body':
      return textIn(fieldsOf(asked), 'tenant');
    case 'query':
      return asked.query.get('tenant');
    case 'path':
      return decoded(params.id ?? '');
  }
}

/** Parts of translations of the API: whoever they are about is named somewhere in their body, and may be an id. */
const PLACES = ['filters', 'params', 'arguments', 'metadata'];
const ENTITY = /\/entities\/(user|agent|run)\/([^/?]+)/;
const OF_OWNED_THING = /(?:bat|msg|con|mem|evt|rev|und|ent|sta|rcp)_[0-9a-hjkmnp-tv-z]{26}/;

/** The owner or the id that a request of mem0's API, or of a tool at /mcp, names. */
export function namedLoosely(asked: Asked): { readonly owner: Owner | null; readonly id: string | null } {
  const entity = entityIn(asked);
  if (entity !== null) return { owner: entity, id: null };
  const owner = ownerWithin(fieldsOf(asked)) ?? ownerOfFields(Object.fromEntries(asked.query)) ?? userInHeader(asked);
  if (owner !== null) return { owner, id: null };
  return { owner: null, id: OF_OWNED_THING.exec(`${asked.url} ${asked.body.toString()}`)?.[0] ?? null };
}

/** The owner whom a path of mem0's API is about. */
export function entityIn({ path }: Asked): Owner | null {
  const [, kind, id = ''] = ENTITY.exec(path) ?? [];
  return kind === undefined ? null : { kind: kind as Owner['kind'], id: decoded(id) };
}

function ownerWithin(fields: Fields): Owner | null {
  const here = ownerOfFields(fields);
  if (here !== null) return here;
  for (const place of PLACES) {
    const value = fields[place];
    const parts = Array.isArray(value) ? value : [value];
    for (const part of parts) {
      const found = typeof part === 'object' && part !== null ? ownerWithin(part as Fields) : null;
      if (found !== null) return found;
    }
  }
  return ownerInFilter(fields);
}
