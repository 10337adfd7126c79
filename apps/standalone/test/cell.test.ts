import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Setup, standalone } from './setups.ts';

const KEY = 'the-key-of-the-operator';
const PATIENCE = { timeout: 60_000, interval: 100 };
const UNTIL = '2099-01-01T00:00:00Z';
const MOVED = { status: 421, code: 'moved', cell: 'east' };

let west: Setup;
let east: Setup;

beforeAll(async () => {
  const start = (name: string) => standalone({ SLOWWAVE_API_KEY: KEY, SLOWWAVE_CELL: name, SLOWWAVE_COLD_DAYS: '0' });
  [west, east] = await Promise.all([start('west'), start('east')]);
});
afterAll(() => Promise.all([west.close(), east.close()]));

interface Asked {
  readonly body?: object;
  readonly key?: string;
  readonly idempotency?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: what the API answers
async function ask(cell: Setup, route: string, { body, key = KEY, idempotency }: Asked = {}): Promise<any> {
  const [method = '', path = ''] = route.split(' ');
  const response = await fetch(`${cell.console}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotency !== undefined && { 'idempotency-key': idempotency }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return text === '' ? null : JSON.parse(text);
}

const ofUser = (id: string) => ({ kind: 'user', id });

interface Read {
  readonly lines: readonly string[];
  readonly stamp: string;
  readonly read_at: string;
}

async function read(cell: Setup, id: string): Promise<Read> {
  const lines: string[] = [];
  for (let cursor = ''; ; ) {
    const page = await ask(cell, `GET /v1/bundle/lines?moving=true&kind=user&id=${id}${cursor}`);
    lines.push(...page.lines);
    if (page.next_cursor === null) return { lines, stamp: page.stamp, read_at: page.read_at };
    cursor = `&cursor=${page.next_cursor}`;
  }
}

/** The way an owner goes. */
interface Way {
  readonly from: Setup;
  readonly to: Setup;
  readonly name: string;
  readonly epoch: number;
}

/** Copies an owner, hidden. Returns the import. */
async function copy({ from, to }: Way, id: string, { lines, read_at }: Read): Promise<string> {
  const { format, ledger_id } = await ask(from, 'GET /v1/bundle');
  const sum = JSON.parse(lines.at(-1) ?? '').sum;
  const arriving = { ...ofUser(id), format, ledger_id, read_at, lines: lines.length, sum };
  const { import_id } = await ask(to, 'POST /v1/bundle/imports', { body: arriving });
  expect(import_id).toBeTypeOf('string');
  const sent = await ask(to, `POST /v1/bundle/imports/${import_id}/lines`, { body: { from: 0, lines } });
  expect(sent).toMatchObject({ taken: lines.length });
  return import_id;
}

const depart = ({ from, name, epoch }: Way, id: string, stamp: string) =>
  ask(from, 'POST /v1/cell/departures', { body: { ...ofUser(id), to: name, epoch, stamp, until: UNTIL } });

/** Moves an owner as a router does: what has departed only has to arrive, however often that is tried. */
async function move(way: Way, id: string): Promise<void> {
  const importId = await vi.waitFor(async () => {
    const held = await ask(way.from, 'POST /v1/cell/leaving', { body: { ...ofUser(id), ms: 60_000 } });
    expect(held).toMatchObject({ waits_for: [] });
    const lines = await read(way.from, id);
    const copied = await copy(way, id, lines);
    expect(await depart(way, id, lines.stamp)).toMatchObject({ to: way.name });
    return copied;
  }, PATIENCE);
  const finish = `POST /v1/bundle/imports/${importId}/finish`;
  await vi.waitFor(async () => expect(await ask(way.to, finish)).toMatchObject({ state: 'finished' }), PATIENCE);
}

const say = (cell: Setup, user_id: string, content: string) =>
  ask(cell, 'POST /v1/batches?wait=60000', {
    body: { user_id, messages: [{ role: 'user', content }], flush: true },
    idempotency: content,
  });

async function found(cell: Setup, user_id: string, query: string): Promise<string> {
  const { results } = await ask(cell, 'POST /v1/search', { body: { user_id, query } });
  return results.map(({ memory }: { memory: string }) => memory).join();
}

const home = { body: { user_id: 'ann', query: 'where does she live?' } };

it('an owner that moves is found where it went, with its keys, and nowhere else', async () => {
  const first = await say(west, 'ann', 'I am Ann. I live in Lisbon.');
  expect(await found(west, 'ann', 'where does she live?')).toContain('Lisbon');
  await move({ from: west, to: east, name: 'east', epoch: 7 }, 'ann');
  for (const route of ['GET /v1/users/ann/export', 'GET /v1/memories?user_id=ann', `GET /v1/batches/${first.id}`])
    expect(await ask(west, route), route).toMatchObject(MOVED);
  expect(await ask(west, 'POST /v1/search', home)).toMatchObject(MOVED);
  expect(await say(west, 'ann', 'Too late.')).toMatchObject(MOVED);
  await vi.waitFor(async () => expect(await found(east, 'ann', 'where does she live?')).toContain('Lisbon'), PATIENCE);
  const again = await say(east, 'ann', 'I am Ann. I live in Lisbon.');
  expect(again).toMatchObject({ id: first.id });
  await vi.waitFor(async () => {
    expect((await ask(west, 'GET /v1/stats')).batches).toMatchObject({ accepted: 0, erased: 0, gap: 0 });
  }, PATIENCE);
  expect((await ask(east, 'GET /v1/stats')).batches.gap).toBe(0);
  expect(await ask(west, 'GET /v1/erasures')).toEqual({ results: [] });
  expect(await ask(west, 'GET /v1/cell')).toMatchObject({ name: 'west', owners: 0, memories: 0, away: 1 });

  await say(east, 'ann', 'My sister is called Eva.');
  await move({ from: east, to: west, name: 'west', epoch: 8 }, 'ann');
  expect((await ask(west, 'GET /v1/cell')).away).toBe(0);
  await vi.waitFor(async () => expect(await found(west, 'ann', 'sister')).toContain('Eva'), PATIENCE);
  expect(await ask(east, 'POST /v1/search', home)).toMatchObject({ ...MOVED, cell: 'west' });
  const { findings } = await ask(west, 'GET /v1/doctor');
  expect(findings.filter(({ severity }: { severity: string }) => severity === 'error')).toEqual([]);
});

it('an owner that sleeps is among those of its cell, and wakes to move', async () => {
  await say(west, 'eve', 'I am Eve. I live in Rome.');
  await vi.waitFor(async () => {
    expect(await ask(west, 'POST /v1/cold/cool', { body: ofUser('eve') })).toMatchObject({ state: 'asleep' });
    const { results } = await ask(west, 'GET /v1/cold');
    expect(results).toMatchObject([{ state: 'cold' }]);
  }, PATIENCE);
  const { results } = await ask(west, 'GET /v1/cell/owners');
  expect(results.map(({ id }: { id: string }) => id)).toContain('eve');
  await move({ from: west, to: east, name: 'east', epoch: 8 }, 'eve');
  expect(await ask(west, 'GET /v1/cold')).toMatchObject({ results: [] });
  await vi.waitFor(async () => expect(await found(east, 'eve', 'where does she live?')).toContain('Rome'), PATIENCE);
});

it('a departure after a write is refused, and what had arrived is thrown away', async () => {
  const way = { from: west, to: east, name: 'east', epoch: 9 };
  await say(west, 'bob', 'I am Bob. I like tea.');
  const lines = await read(west, 'bob');
  await copy(way, 'bob', lines);
  await say(west, 'bob', 'I like coffee, too.');
  expect(await depart(way, 'bob', lines.stamp)).toMatchObject({ status: 409, code: 'conflict' });
  const ended = [1, 2].map(() => 'DELETE /v1/cell/arrivals?kind=user&id=bob');
  expect(await ask(east, ended[0] ?? '')).toEqual({ thrown_away: 1 });
  expect(await ask(east, ended[1] ?? '')).toEqual({ thrown_away: 0 });
  expect(await found(west, 'bob', 'what does he like to drink?')).toContain('coffee');
});

it('what a tenant has in common is the same in another cell, and revoked there as well', async () => {
  const { secret } = await ask(west, 'POST /v1/keys', { body: { name: 'backend', scopes: ['ingest', 'search'] } });
  const chosen = { instructions: 'Remember journeys.', budgets: { tokens_per_day: 1_000 } };
  await ask(west, 'PUT /v1/settings', { body: chosen });
  const caller = () => ask(east, 'GET /v1/cell/caller', { key: secret });
  const take = async (epoch: number) => {
    const { copy: rows, version } = await ask(west, 'GET /v1/cell/tenant');
    return ask(east, 'PUT /v1/cell/tenant', { body: { epoch, version, copy: rows } });
  };
  expect(await caller()).toMatchObject({ status: 401 });
  expect(await take(2)).toMatchObject({ tenant: 'default', epoch: 2 });
  expect(await caller()).toMatchObject({ tenant: 'default', scopes: ['ingest', 'search'], operator: false });
  expect(await ask(east, 'GET /v1/settings')).toMatchObject(chosen);
  const [key] = (await ask(west, 'GET /v1/keys')).results;
  await ask(west, `DELETE /v1/keys/${key.id}`);
  expect(await take(1)).toMatchObject({ status: 409, code: 'conflict' });
  await take(3);
  // A process believes for a moment what it has just looked up.
  await vi.waitFor(async () => expect(await caller()).toMatchObject({ status: 401 }), PATIENCE);
});
