import { pick } from '@slowwave/engine-testing';
import type { Description, Operation, Parameter } from '@slowwave/testkit';
import { BROKEN_BODIES, fitting, type Making, spoiled } from './values.ts';

export interface FuzzRequest {
  /** As it stands in the description: `POST /v1/batches`. */
  readonly name: string;
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

interface Named {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Every operation of the API that answers by itself; those of the pages and measurements have no schemas to try. */
export const operationsOf = ({ paths }: Description): Named[] =>
  Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const verb = method.toUpperCase();
        return { name: `${verb} ${path}`, method: verb, path, operation };
      }),
    );

/** What part of the requests has a mistake in the body, is no JSON at all, has odd headers. */
const SPOILED = 0.5;
const BROKEN = 0.05;
/** …and names something the server has answered with. */
const KNOWN = 0.7;
const ODD_HEADERS = 0.05;

/** A request for one operation: half of them as they should be, the others with something wrong. */
export function requestFor(making: Making, { name, method, path, operation }: Named): FuzzRequest {
  const { random } = making;
  const parameters = operation.parameters ?? [];
  const url = `${filled(making, path, parameters)}${queryOf(making, parameters)}`;
  const body = bodyOf(making, operation);
  const odd = random() < ODD_HEADERS;
  const headers = {
    ...(body !== null && { 'content-type': odd ? pick(TYPES, random) : 'application/json' }),
    ...(odd && { 'idempotency-key': pick(['', 'k'.repeat(5_000), 'once'], random), accept: pick(ACCEPTED, random) }),
  };
  return { name, operation, method, path: url, headers, body };
}

const TYPES = ['text/plain', 'application/json; charset=utf-16', 'multipart/form-data', 'application/json'];
const ACCEPTED = ['*/*', 'text/html', 'application/xml;q=0.9', 'application/json'];

function filled(making: Making, path: string, parameters: readonly Parameter[]): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const schema = parameters.find((one) => one.in === 'path' && one.name === name)?.schema ?? {};
    const { random } = making;
    const ids = fittingIds(making, name === 'id' ? path : name);
    if (random() < KNOWN && ids.length > 0) return encodeURIComponent(pick(ids, random));
    const value = random() < SPOILED ? spoiled('', random) : fitting(making, schema);
    return encoded(typeof value === 'string' ? value.slice(0, 2_000) : JSON.stringify(value));
  });
}

/** What the ids of things begin with, by what the path calls them, or how it names the id. */
const PREFIXES: Readonly<Record<string, string>> = {
  batches: 'bat',
  memories: 'mem',
  consolidations: 'con',
  reviews: 'rev',
  replays: 'rpl',
  canaries: 'cny',
  holds: 'hld',
  undos: 'und',
  keys: 'key',
  erasures: 'ers',
  webhooks: 'whk',
  delivery_id: 'dlv',
  entities: 'ent',
  relations: 'rel',
};

/** Ids of the kind that a path names, mostly. */
function fittingIds({ ids, random }: Making, where: string): readonly string[] {
  const prefix = PREFIXES[where.split('/')[2] ?? where];
  const fitting = prefix === undefined ? [] : ids.filter((id) => id.startsWith(prefix));
  return fitting.length === 0 || random() < SPOILED / 2 ? ids : fitting;
}

function queryOf(making: Making, parameters: readonly Parameter[]): string {
  const { random } = making;
  const pairs = parameters
    .filter((one) => one.in === 'query' && (one.required === true || random() < 0.6))
    .map(({ name, schema }) => {
      const value = fitting(making, schema);
      // Nothing is to be gained from waiting for a batch that is not done.
      const given =
        name === 'wait' ? Math.min(Number(value) || 0, 5) : random() < SPOILED / 2 ? spoiled(value, random) : value;
      return `${name}=${encoded(typeof given === 'string' ? given.slice(0, 4_000) : JSON.stringify(given))}`;
    });
  if (random() < 0.05) pairs.push('unknown=1', 'limit=1', 'limit=2');
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function bodyOf(making: Making, { requestBody }: Operation): string | null {
  const { random } = making;
  const schema = requestBody?.content['application/json']?.schema;
  if (schema === undefined) return random() < BROKEN ? pick(BROKEN_BODIES, random) : null;
  if (random() < BROKEN) return pick(BROKEN_BODIES, random);
  const value = fitting(making, schema);
  const text = JSON.stringify(random() < SPOILED ? spoiled(value, random) : value);
  return text.replace(FOREIGN_HOST, NOWHERE);
}

/** What is posted to webhooks goes nowhere: a port of this machine that nobody listens at. */
const FOREIGN_HOST = /https:\/\/[\w.-]+\.example\.com/g;
const NOWHERE = 'http://127.0.0.1:9';

/** Half characters cannot be written into a path. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());
