import { createSlowwave, type Slowwave } from '@slowwave/sdk';
import { allRemembered, type OwnServer, saidOf, startOwnServer } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SessionEvent, SlowwaveMemoryService } from '../src/index.ts';

let server: OwnServer;
let slowwave: Slowwave;
beforeAll(async () => {
  server = await startOwnServer({});
  slowwave = createSlowwave({ url: server.url });
});
afterAll(() => server.close());

/** Events as ADK's runner makes them. */
const EVENTS: readonly SessionEvent[] = [
  {
    id: 'e1',
    author: 'user',
    timestamp: 1_790_000_000_000,
    content: { parts: [{ text: 'I live in Oslo. How cold is it?' }] },
  },
  {
    id: 'e2',
    author: 'assistant',
    timestamp: 1_790_000_001_000,
    content: {
      parts: [
        { text: 'I should look.', thought: true },
        { functionCall: { id: 'adk-1', name: 'weather', args: { city: 'Oslo' } } },
        { functionCall: { id: 'adk-2', name: 'load_memory', args: { query: 'home' } } },
      ],
    },
  },
  {
    id: 'e3',
    author: 'assistant',
    timestamp: 1_790_000_002_000,
    content: {
      parts: [
        { functionResponse: { name: 'weather', response: { degrees: -3 } } },
        { functionResponse: { name: 'load_memory', response: { memories: ['User lives in Rome'] } } },
      ],
    },
  },
  { id: 'e4', author: 'assistant', partial: true, timestamp: 1_790_000_003_000, content: { parts: [{ text: 'It' }] } },
  { id: 'e5', author: 'assistant', timestamp: 1_790_000_003_000, content: { parts: [{ text: 'It is -3 °C.' }] } },
  { id: 'e6', author: 'assistant', timestamp: 1_790_000_004_000 },
];

const session = (userId: string, events: readonly SessionEvent[]) => ({ id: 's1', appName: 'shop', userId, events });

test('a session is remembered, and found by its app alone unless all are asked', async () => {
  const service = new SlowwaveMemoryService({ slowwave });
  await service.addSessionToMemory(session('ana', EVENTS));
  await allRemembered(server.url, 'ana');
  const asked = { userId: 'ana', query: 'where does she live?' };
  const { memories } = await service.searchMemory({ ...asked, appName: 'shop' });
  expect(memories).toEqual([
    {
      content: { role: 'user', parts: [{ text: 'User lives in Oslo' }] },
      author: 'user',
      timestamp: expect.any(String),
    },
  ]);
  expect((await service.searchMemory({ ...asked, appName: 'game' })).memories).toEqual([]);
  expect((await service.searchMemory({ ...asked, userId: 'bob', appName: 'shop' })).memories).toEqual([]);
  const everywhere = new SlowwaveMemoryService({ slowwave, acrossApps: true });
  expect((await everywhere.searchMemory({ ...asked, appName: 'game' })).memories).toHaveLength(1);
});

test('a session that grows posts each event once, without thoughts, pieces, and what the memory answered', async () => {
  const service = new SlowwaveMemoryService({ slowwave });
  for (const end of [1, 3, 5, EVENTS.length, EVENTS.length]) {
    await service.addSessionToMemory(session('cleo', EVENTS.slice(0, end)));
  }
  expect(await saidOf(server.url, 'cleo')).toEqual([
    'user: I live in Oslo. How cold is it?',
    'assistant: [called weather({"city":"Oslo"})]',
    'tool: {"degrees":-3}',
    'assistant: It is -3 °C.',
  ]);
});

test('a session that another process posts again counts once', async () => {
  for (const _ of ['one process', 'another']) {
    await new SlowwaveMemoryService({ slowwave }).addSessionToMemory(session('dora', EVENTS));
    await allRemembered(server.url, 'dora');
  }
  const { results } = await slowwave.memories.list({ user_id: 'dora' });
  expect(results.map(({ memory, confirmations }) => [memory, confirmations])).toEqual([['User lives in Oslo', 0]]);
});

test('a failure is told, and what failed is posted with the next call', async () => {
  let isAway = true;
  const fetched: typeof fetch = (...given) => (isAway ? Promise.reject(new TypeError('away')) : fetch(...given));
  const service = new SlowwaveMemoryService({
    slowwave: createSlowwave({ url: server.url, retries: 0, fetch: fetched }),
  });
  const first = session('eve', EVENTS.slice(0, 1));
  await expect(service.addSessionToMemory(first)).rejects.toMatchObject({ code: 'no_answer' });
  isAway = false;
  await service.addSessionToMemory(first);
  expect(await saidOf(server.url, 'eve')).toEqual(['user: I live in Oslo. How cold is it?']);
});
