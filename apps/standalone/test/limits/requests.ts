import { randomUUID } from 'node:crypto';

/** What is sent to reach a limit. */
export interface Sent {
  /** POST /v1/batches?wait=1 */
  readonly line: string;
  readonly body?: unknown;
  /** In place of a body: as it is. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is there to be asked for. */
export interface Existing {
  readonly batch: string;
  readonly memory: string;
  readonly key: string;
}

/** A request that has so many of what is limited, and is as it should be otherwise. */
type Make = (count: number, existing: Existing) => Sent;

const user_id = 'ann';
const letters = (count: number): string => 'a'.repeat(count);
const many = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i));
const nested = (levels: number, inside: (inner: unknown) => object): unknown =>
  many(levels, (i) => i).reduce<unknown>((inner) => inside(inner), 1);

const message = { role: 'user', content: 'Hi' };
const batch = (fields: object): Sent => ({
  line: 'POST /v1/batches',
  body: { user_id, messages: [message], ...fields },
});
const memory = (fields: object): Sent => ({ line: 'POST /v1/memories', body: { user_id, memory: 'Tea', ...fields } });
const search = (fields: object): Sent => ({ line: 'POST /v1/search', body: { user_id, query: 'tea', ...fields } });
const context = (fields: object): Sent => ({ line: 'POST /v1/context', body: { user_id, query: 'tea', ...fields } });
const recall = (fields: object): Sent => ({ line: 'POST /v1/recall', body: { user_id, query: 'tea', ...fields } });
const filtered = (filters: unknown): Sent => search({ filters });
const settings = (body: object): Sent => ({ line: 'PUT /v1/settings', body });
const slot = (fields: object) => ({ name: 'home', about: 'Where they live', ...fields });
const key = (fields: object): Sent => ({ line: 'POST /v1/keys', body: { name: 'k', scopes: ['search'], ...fields } });
const webhook = (fields: object): Sent => ({
  line: 'POST /v1/webhooks',
  body: { url: 'https://receiver.example/', events: ['batch.parked'], ...fields },
});

/** A run of its own for each request. */
const run = (fields: object): Sent => ({ line: `PUT /v1/runs/${randomUUID()}/state`, body: fields });
const step = (fields: object) => ({ id: 's', title: 'Pay', state: 'pending', ...fields });

/** A state of so many characters of JSON. */
function stateOf(count: number): Sent {
  const steps = (share: number, first: number) =>
    many(32, (i) => step({ id: `s${i + 10}`, result: letters(i === 0 ? first : share) }));
  const left = count - JSON.stringify({ steps: steps(0, 0) }).length;
  const share = Math.floor(left / 32);
  return run({ steps: steps(share, left - share * 31) });
}

const padded = ({ line, body }: Sent, bytes: number): Sent => ({ line, text: JSON.stringify(body).padEnd(bytes) });

/** user_id and messages. */
const BESIDE_MESSAGES = 2;
/** Of each: itself, role, content; then type and text of each part, and the part. */
const OF_MESSAGE = 3;
const PARTS = 99;

/** Messages with so many fields and items in all. */
function messagesOf(values: number): object[] {
  const long = Math.floor(values / (OF_MESSAGE + PARTS * 3));
  const parts = many(PARTS, () => ({ type: 'text', text: 'Hi' }));
  const rest = values - long * (OF_MESSAGE + PARTS * 3);
  const plain = many(Math.floor(rest / OF_MESSAGE), (i) => ({
    ...message,
    ...(i < rest % OF_MESSAGE && { name: 'a' }),
  }));
  return [...many(long, () => ({ role: 'user', content: parts })), ...plain];
}

const OF_REQUESTS: Readonly<Record<string, Make>> = {
  "bytes of the body of a batch, a preview, a context, an add of mem0's, a message of MCP": (n) => padded(batch({}), n),
  'bytes of the body of a search, a recall, settings, a replay, the state of a run': (n) => padded(search({}), n),
  'bytes of the body of a memory': (n) => padded(memory({}), n),
  'bytes of any other body': (n) => padded({ line: 'POST /v1/flush', body: { user_id } }, n),
  'bytes of a form that signs in or out': (n) => ({
    line: 'POST /logout',
    text: `next=${letters(n - 'next='.length)}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
  }),
  'fields and items of a body, all together': (n) => batch({ messages: messagesOf(n - BESIDE_MESSAGES) }),
  // What clients and Node.js add of their own is within the first half.
  'bytes of all headers and the address': (n) => ({
    line: 'GET /v1/stats',
    headers: { 'x-filler': letters(n % 2 === 0 ? n / 2 : n) },
  }),
  'characters of a part of the path': (n) => ({ line: `GET /v1/batches/${letters(n)}` }),
  "characters of an id (user, agent, run, app, message), and of a speaker's name": (n) =>
    batch({ user_id: letters(n), messages: [{ ...message, id: letters(n), name: letters(n) }] }),
  'characters of a time': (n) => batch({ timestamp: `2026-01-01T00:00:00.${'1'.repeat(n - 21)}Z` }),
  'control characters in an id': (n) => batch({ user_id: `ann${'\u0007'.repeat(n)}` }),
  'characters of an idempotency key': (n) => batch({ idempotency_key: letters(n) }),
  'results of a page': (n) => ({ line: `GET /v1/batches?limit=${n}` }),
  'characters of a cursor': (n) => ({ line: `GET /v1/batches?cursor=${letters(n)}` }),
  'milliseconds of a wait': (n, there) => ({ line: `GET /v1/batches/${there.batch}?wait=${n}` }),
};

const OF_MEMORIES: Readonly<Record<string, Make>> = {
  'messages of a batch': (n) => batch({ messages: many(n, () => message) }),
  'characters of a message': (n) => batch({ messages: [{ role: 'user', content: 'Hi'.padEnd(n) }] }),
  'parts of a message': (n) =>
    batch({ messages: [{ role: 'user', content: many(n, () => ({ type: 'text', text: 'Hi' })) }] }),
  'levels of metadata': (n) => batch({ metadata: nested(n, (inner) => ({ inner })) }),
  'characters of metadata, as JSON': (n) => batch({ metadata: { k: letters(n - '{"k":""}'.length) } }),
  'characters of a key of metadata': (n) => batch({ metadata: { [letters(n)]: 1 } }),
  'characters of instructions, includes, excludes': (n) =>
    batch({ instructions: letters(n), includes: letters(n), excludes: letters(n) }),
  'characters of a memory written as it is': (n) => memory({ memory: letters(n) }),
  'characters of the reason of a rating': (n, there) => ({
    line: `POST /v1/memories/${there.memory}/feedback`,
    body: { rating: 'positive', reason: letters(n) },
  }),
  "characters of a run's goal": (n) => run({ goal: letters(n) }),
  'steps of a run': (n) => run({ steps: many(n, (i) => step({ id: `s${i}` })) }),
  "characters of a step's title": (n) => run({ steps: [step({ title: letters(n) })] }),
  "characters of a step's result": (n) => run({ steps: [step({ result: letters(n) })] }),
  'characters of the state of a run, as JSON': stateOf,
  'categories of a memory': (n) => memory({ categories: many(n, (i) => `c${i}`) }),
  'characters of a category': (n) => memory({ categories: [letters(n)] }),
};

const FILTER_TEXTS = 200;
const FILTER_TEXT = 648;
/** All but the first text: the others with quotes and commas, and what is around them. */
const FILTER_REST = (FILTER_TEXTS - 1) * (FILTER_TEXT + '"",'.length) + '{"user_id":{"in":[""]}}'.length;

const OF_QUESTIONS: Readonly<Record<string, Make>> = {
  'characters of the query of a search': (n) => search({ query: letters(n) }),
  'results of a search': (n) => search({ top_k: n }),
  'milliseconds of a search': (n) => search({ timeout_ms: n }),
  'messages of a context': (n) => context({ messages: many(n, () => message) }),
  'tokens of a context': (n) => context({ max_tokens: n }),
  'characters of the question of a recall': (n) => recall({ query: letters(n) }),
  'memories of each search of a recall': (n) => recall({ top_k: n }),
  'steps of a recall': (n) => recall({ max_steps: n }),
  'tokens of a recall': (n) => recall({ max_tokens: n }),
  'messages before or after a message or event': (n) => ({ line: `GET /v1/messages?around=msg_x&before=${n}` }),
  'messages before a source': (n, there) => ({ line: `GET /v1/memories/${there.memory}/sources?before=${n}` }),
  'levels of a filter': (n) => filtered(many(n, (i) => i).reduce<object>((inner) => ({ NOT: inner }), { app_id: 'a' })),
  'characters of a filter, as JSON': (n) =>
    filtered({ user_id: { in: many(FILTER_TEXTS, (i) => letters(i === 0 ? n - FILTER_REST : FILTER_TEXT)) } }),
  'conditions of a filter': (n) => filtered({ AND: many(n, () => ({ app_id: 'a' })) }),
  'values in the lists of a filter': (n) => filtered({ app_id: { in: many(n, (i) => `a${i}`) } }),
  'nested keys in a filter': (n) => filtered({ metadata: nested(n, (inner) => ({ inner })) }),
  'characters of a text in a filter': (n) => filtered({ 'metadata.k': letters(n) }),
  'characters of a filter in an address': (n) => ({
    line: `GET /v1/memories?user_id=ann&filters=${encodeURIComponent('{"app_id":"a"}')}${'+'.repeat(n - 14)}`,
  }),
};

const OF_REST: Readonly<Record<string, Make>> = {
  'characters of a prompt': (n) => settings({ prompts: { decide: letters(n) } }),
  'slots of a profile': (n) => settings({ profile_slots: many(n, (i) => slot({ name: `s${i}` })) }),
  'lines of a slot': (n) => settings({ profile_slots: [slot({ lines: n })] }),
  'characters of what belongs in a slot': (n) => settings({ profile_slots: [slot({ about: letters(n) })] }),
  'categories of a slot': (n) => settings({ profile_slots: [slot({ categories: many(n, (i) => `c${i}`) })] }),
  'categories of a tenant': (n) => settings({ categories: many(n, (i) => `c${i}`) }),
  'models with a price': (n) =>
    settings({ prices: Object.fromEntries(many(n, (i) => [`m${i}`, { prompt: 1, completion: 1 }])) }),
  'days of retention': (n) => settings({ retention: { messages_days: n } }),
  "characters of a key's name": (n) => key({ name: letters(n) }),
  "characters of a tenant's name": (n) => key({ tenant: letters(n) }),
  'seconds a replaced secret is taken': (n, there) => ({
    line: `POST /v1/keys/${there.key}/rotate`,
    body: { grace_seconds: n },
  }),
  "seconds a link to a user's own page is valid": (n) => ({
    line: 'POST /v1/users/limits/links',
    body: { valid_seconds: n },
  }),
  "characters of a webhook's address": (n) => webhook({ url: 'https://receiver.example/'.padEnd(n, 'a') }),
  "characters of a webhook's secret": (n) => webhook({ secret: letters(n) }),
  'batches a replay names': (n) => ({
    line: 'POST /v1/replays',
    body: { filter: { batch_ids: many(n, (i) => `bat_${i}`) }, dry_run: true },
  }),
  'steps of a canary': (n) => ({
    line: 'POST /v1/canaries',
    body: {
      changes: { instructions: 'Remember allergies.' },
      steps: many(n, (i) => ({ share: (100 * (i + 1)) / n, min_seconds: 0, min_consolidations: 0 })),
    },
  }),
};

const graphQuery = (fields: object): Sent => ({ line: 'POST /v1/graph/query', body: { user_id, ...fields } });
const relation = (fields: object): Sent => ({
  line: 'POST /v1/relations',
  body: { user_id, source: { self: true }, relationship: 'knows', destination: { name: 'Bea' }, ...fields },
});
const ANY = [{ source: '?who', relationship: 'knows', destination: '?whom' }];

const OF_GRAPHS: Readonly<Record<string, Make>> = {
  "characters of an entity's name": (n) => relation({ destination: { name: letters(n) } }),
  'characters of a relationship': (n) => relation({ relationship: letters(n) }),
  "characters of a relation's quote": (n) => relation({ quote: letters(n) }),
  'relations of one answer': (n) => ({ line: `GET /v1/graph?user_id=ann&limit=${n}` }),
  "patterns of a graph's query": (n) => graphQuery({ match: many(n, () => ANY[0]) }),
  'relations in a row on a path': (n) =>
    graphQuery({ path: { from: { self: true }, to: { name: 'Bea' }, max_hops: n } }),
  "matches of a graph's query": (n) => graphQuery({ match: ANY, limit: n }),
};

/** By the name of the limit. */
export const REQUESTS: Readonly<Record<string, Make>> = {
  ...OF_REQUESTS,
  ...OF_MEMORIES,
  ...OF_QUESTIONS,
  ...OF_GRAPHS,
  ...OF_REST,
};
