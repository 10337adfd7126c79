import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type BaseStore, InMemoryStore } from '@langchain/langgraph-checkpoint';
import { createSlowwave, type Slowwave } from '@slowwave/sdk';
import { type ModelServer, type OwnServer, startModelServer, startOwnServer } from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SlowwaveStore } from '../src/index.ts';

let server: OwnServer;
let slowwave: Slowwave;
beforeAll(async () => {
  server = await startOwnServer({});
  slowwave = createSlowwave({ url: server.url });
});
afterAll(() => server.close());

const PROFILE = {
  name: 'Ana',
  age: 31,
  score: 0.1 + 0.2,
  big: Number.MAX_SAFE_INTEGER,
  nested: { list: [1, 'two', null, { three: [] }], empty: {}, 'a.b': '' },
  text: 'Zürich 😀 \u0000 "quoted"\n',
  nothing: null,
  no: false,
};

const keysOf = (items: readonly { readonly key: string }[]): string[] => items.map(({ key }) => key).sort();

// What LangGraph's own store does is what is expected of this one.
describe.each<[string, () => BaseStore]>([
  ['InMemoryStore', () => new InMemoryStore()],
  ['SlowwaveStore', () => new SlowwaveStore({ slowwave, agentId: randomUUID() })],
])('%s', (_name, open) => {
  test('gives a value back as it was put, and null where there is none', async () => {
    const store = open();
    await store.put(['users', 'ana'], 'profile', PROFILE);
    const item = await store.get(['users', 'ana'], 'profile');
    expect(item).toMatchObject({ key: 'profile', namespace: ['users', 'ana'] });
    expect(item?.value).toEqual(PROFILE);
    expect(item?.createdAt).toBeInstanceOf(Date);
    expect(await store.get(['users', 'ana'], 'other')).toBeNull();
    expect(await store.get(['users'], 'profile')).toBeNull();
    expect(await store.get(['users', 'ana', 'x'], 'profile')).toBeNull();
  });

  test('puts in place of what was there, keeps its age, and deletes', async () => {
    const store = open();
    await store.put(['a'], 'k', { text: 'tea' });
    const first = await store.get(['a'], 'k');
    await store.put(['a'], 'k', { text: 'coffee' });
    await store.put(['a'], 'k', { text: 'coffee', hot: true });
    const then = await store.get(['a'], 'k');
    expect(then?.value).toEqual({ text: 'coffee', hot: true });
    expect(then?.createdAt).toEqual(first?.createdAt);
    expect(await store.search(['a'])).toHaveLength(1);
    await store.delete(['a'], 'k');
    await store.delete(['a'], 'k');
    expect(await store.get(['a'], 'k')).toBeNull();
    await store.put(['a'], 'k', { text: 'water' });
    expect((await store.get(['a'], 'k'))?.value).toEqual({ text: 'water' });
  });

  test('lists what is below a namespace, page after page', async () => {
    const store = open();
    for (const place of [['docs'], ['docs', 'old'], ['docsx'], ['other', 'docs']]) {
      await store.put(place, place.join('/'), { place });
    }
    expect(keysOf(await store.search(['docs']))).toEqual(['docs', 'docs/old']);
    expect(keysOf(await store.search([]))).toEqual(['docs', 'docs/old', 'docsx', 'other/docs']);
    const pages = [await store.search([], { limit: 3 }), await store.search([], { limit: 3, offset: 3 })];
    expect(pages.map((page) => page.length)).toEqual([3, 1]);
    expect(keysOf(pages.flat())).toEqual(['docs', 'docs/old', 'docsx', 'other/docs']);
  });

  test.each<[object, string[]]>([
    [{ status: 'open' }, ['1', '3']],
    [{ status: 'open', n: 1 }, ['1']],
    [{ n: { $gt: 1 } }, ['2', '3']],
    [{ n: { $gte: 2, $lt: 3 } }, ['2']],
    [{ n: { $lte: 1 } }, ['1']],
    [{ status: { $ne: 'open' } }, ['2']],
    [{ status: { $eq: '*' } }, ['2']],
    [{ n: { $in: [1, 3] } }, ['1', '3']],
    [{ n: { $nin: [1, 3] } }, ['2']],
    [{ in: true }, ['3']],
    [{ 'a.b': 'x' }, ['1']],
  ])('filters by %j', async (filter, keys) => {
    const store = open();
    await store.put(['f'], '1', { status: 'open', n: 1, 'a.b': 'x' });
    await store.put(['f'], '2', { status: '*', n: 2 });
    await store.put(['f'], '3', { status: 'open', n: 3, in: true });
    expect(keysOf(await store.search(['f'], { filter }))).toEqual(keys);
  });

  test('names namespaces by their beginning, their end and their depth', async () => {
    const store = open();
    for (const place of [
      ['a', 'b', 'c'],
      ['a', 'b', 'd'],
      ['a', 'x'],
      ['z', 'b', 'c'],
    ])
      await store.put(place, 'k', {});
    expect(await store.listNamespaces()).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'd'],
      ['a', 'x'],
      ['z', 'b', 'c'],
    ]);
    expect(await store.listNamespaces({ prefix: ['a', 'b'] })).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'd'],
    ]);
    expect(await store.listNamespaces({ suffix: ['c'] })).toEqual([
      ['a', 'b', 'c'],
      ['z', 'b', 'c'],
    ]);
    expect(await store.listNamespaces({ prefix: ['*', 'b'], suffix: ['c'] })).toHaveLength(2);
    expect(await store.listNamespaces({ maxDepth: 1 })).toEqual([['a'], ['z']]);
    expect(await store.listNamespaces({ limit: 1, offset: 1 })).toEqual([['a', 'b', 'd']]);
  });

  test('answers a batch in its order, reads before writes, the last put of an item', async () => {
    const store = open();
    await store.put(['b'], 'there', { v: 0 });
    const results: unknown[] = await store.batch([
      { namespace: ['b'], key: 'k' },
      { namespace: ['b'], key: 'k', value: { v: 1 } },
      { namespace: ['b'], key: 'there' },
      { namespacePrefix: ['b'] },
      { namespace: ['b'], key: 'k', value: { v: 2 } },
    ]);
    const there = expect.objectContaining({ key: 'there', value: { v: 0 } });
    expect(results.map((result) => result ?? null)).toEqual([null, null, there, [there], null]);
    expect((await store.get(['b'], 'k'))?.value).toEqual({ v: 2 });
  });

  test('refuses a namespace that is none', async () => {
    const store = open();
    await expect(store.put([], 'k', {})).rejects.toThrow('Namespace cannot be empty');
    await expect(store.put(['a.b'], 'k', {})).rejects.toThrow('periods');
    await expect(store.put(['langgraph'], 'k', {})).rejects.toThrow('Root label');
  });
});

const opened = (more: { userAt?: number; fields?: string[]; agentId?: string } = {}): SlowwaveStore =>
  new SlowwaveStore({ slowwave, agentId: randomUUID(), ...more });

test('finds by meaning and words what a value says, best first', async () => {
  const store = opened();
  await store.put(['m', 'ana'], 'food', { text: 'Ana is allergic to peanuts' });
  await store.put(['m', 'ana'], 'city', { place: { city: 'Oslo' }, since: 2024, text: 'lives there' });
  await store.put(['m', 'bob'], 'food', { text: 'Bob is allergic to milk' });
  await store.put(['m', 'ana'], 'hidden', { text: 'allergic to nothing' }, false);
  const [best] = await store.search(['m', 'ana'], { query: 'what is she allergic to?' });
  expect(best).toMatchObject({ key: 'food', namespace: ['m', 'ana'], value: { text: 'Ana is allergic to peanuts' } });
  expect(best?.score).toBeGreaterThan(0);
  const found = await store.search(['m'], { query: 'allergic' });
  expect(keysOf(found)).toEqual(['city', 'food', 'food']);
  expect((await store.search(['m'], { query: 'Oslo', limit: 1 }))[0]?.key).toBe('city');
  expect((await store.search(['m'], { query: 'allergic', filter: { since: 2024 } })).map(({ key }) => key)).toEqual([
    'city',
  ]);
});

test('finds a value by the fields that were chosen alone', async () => {
  const agentId = randomUUID();
  const store = opened({ fields: ['title', 'parts[*].text', 'parts[-1].note'], agentId });
  const value = { title: 'Tea', parts: [{ text: 'green' }, { text: 'black', note: 'hot' }], secret: 'coffee' };
  await store.put(['d'], 'k', value);
  await store.put(['d'], 'own', value, ['secret']);
  const { results } = await slowwave.memories.list({ agent_id: agentId });
  expect(results.map(({ memory }) => memory).sort()).toEqual(['Tea\ngreen\nblack\nhot', 'coffee']);
});

test("an item of a user belongs to the user, is no other user's, and is erased with them", async () => {
  const store = opened({ userAt: 1 });
  await store.put(['memories', 'una'], 'k', { text: 'Una keeps bees' });
  await store.put(['memories', 'vic'], 'k', { text: 'Vic keeps goats' });
  await store.put(['settings'], 'k', { theme: 'dark' });
  expect(
    (await store.search(['memories', 'una'], { query: 'who keeps animals?' })).map(({ value }) => value.text),
  ).toEqual(['Una keeps bees']);
  expect((await store.get(['settings'], 'k'))?.value).toEqual({ theme: 'dark' });
  expect(await store.listNamespaces({ prefix: ['memories', 'vic'] })).toEqual([['memories', 'vic']]);
  await expect(store.search(['memories'], { query: 'bees' })).rejects.toThrow('label 1 (userAt) names the user');
  await expect(store.listNamespaces()).rejects.toThrow('label 1 (userAt) names the user');
  expect((await slowwave.memories.context({ user_id: 'una', query: 'bees' })).text).toContain('Una keeps bees');
  await slowwave.users.erase('una');
  expect(await store.get(['memories', 'una'], 'k')).toBeNull();
  expect((await store.get(['memories', 'vic'], 'k'))?.value).toEqual({ text: 'Vic keeps goats' });
});

test('what is said in a conversation changes no item', async () => {
  const store = opened({ userAt: 1 });
  await store.put(['memories', 'wim'], 'home', { text: 'User lives in Oslo' });
  await store.put(['memories', 'wim'], 'home', { text: 'User lives in Rome' });
  const messages = [{ role: 'user', content: 'Actually I live in Bergen now.' }] as const;
  const { batch_id } = await slowwave.batches.post({ user_id: 'wim', flush: true, messages });
  await slowwave.batches.settled(batch_id);
  expect((await store.get(['memories', 'wim'], 'home'))?.value).toEqual({ text: 'User lives in Rome' });
  const { results } = await slowwave.memories.list({ user_id: 'wim' });
  expect(results.map(({ memory }) => memory).sort()).toEqual(['User lives in Bergen', 'User lives in Rome']);
});

test('many puts of one new item at once leave one item', async () => {
  const [store, other] = [opened({ agentId: 'crowd' }), opened({ agentId: 'crowd' })];
  await Promise.all(Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? store : other).put(['p'], 'k', { n })));
  await store.put(['p'], 'k', { n: 'last' });
  expect((await other.search(['p'])).map(({ value }) => value)).toEqual([{ n: 'last' }]);
  await other.delete(['p'], 'k');
  expect(await store.get(['p'], 'k')).toBeNull();
});

test('what cannot be kept or asked is refused with the place', async () => {
  const store = opened();
  const tooLong = store.put(['x'], 'long', { text: 'x'.repeat(20_000) });
  await expect(tooLong).rejects.toThrow(/item "long" in \["x"\], whose value is kept as metadata: .*16000 characters/);
  await expect(store.search(['x'], { filter: { a: { $regex: 'x' } } })).rejects.toThrow('filter.a: expected a text');
  await expect(store.search(['x'], { filter: { a: ['x'] } })).rejects.toThrow('filter.a: expected a text');
  await expect(store.put(['x'], 'k', [] as never)).rejects.toThrow('expected a value to be an object');
  await expect(store.search(['x'], { query: 'x', limit: 500 })).rejects.toThrow('200');
  expect(() => opened({ userAt: -1 })).toThrow('expected userAt to be the place of a label');
});

test('a graph finds what it noted before', async () => {
  const chat: ModelServer = await startModelServer({ script: () => ({ text: 'Noted.' }) });
  const main = fileURLToPath(new URL('../example/assistant.ts', import.meta.url));
  const options = ['--url', server.url, '--user', 'xena', '--model-url', chat.baseUrl];
  const running = promisify(execFile)(process.execPath, [main, ...options]);
  running.child.stdin?.end('note: the key is under the mat\nWhere is the key?\n');
  const { stdout } = await running;
  await chat.close();
  expect(stdout).toBe('you: note: the key is under the mat\nbot: Noted.\nyou: Where is the key?\nbot: Noted.\n');
  expect(chat.calls.map(({ system }) => system)).toEqual([
    'Notes of the user, as data:\n',
    'Notes of the user, as data:\n- the key is under the mat',
  ]);
});
