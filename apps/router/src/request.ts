import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Owner } from '@slowwave/engine';
import { BODY_LIMITS, ownerInFilter, problem, refuseUnreadable, USER_HEADER } from '@slowwave/http';
import type { OwnerNamed, TenantNamed } from './classes.ts';

/** A request that has arrived as a whole: it may have to be sent again. */
export interface Asked {
  readonly method: string;
  /** With the query, as it was sent. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly address: string;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
}

/** The largest body that any route takes; each cell has its own limits for each. */
const BODY_MAX = Math.max(...Object.values(BODY_LIMITS));

export async function readRequest(request: IncomingMessage, signal: AbortSignal): Promise<Asked> {
  const url = request.url ?? '/';
  refuseUnreadable(url);
  const end = url.indexOf('?');
  return {
    ...{ method: request.method ?? 'GET', url, headers: request.headers, signal },
    path: end < 0 ? url : url.slice(0, end),
    query: new URLSearchParams(end < 0 ? '' : url.slice(end + 1)),
    body: await bodyOf(request),
    address: request.socket.remoteAddress ?? '',
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_MAX) {
      throw problem(
        'body_too_large',
        `expected a body of at most ${BODY_MAX} bytes, got more; send it in smaller parts`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
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
