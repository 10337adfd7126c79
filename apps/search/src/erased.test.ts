import { DEFAULT_TENANT, EngineError, requestErasure, silentMeter } from '@slowwave/engine';
import { fakeChat, ONE_CHAT } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { searchBench } from './testing/bench.ts';

const ANN = { kind: 'user', id: 'ann' } as const;

/** Ann has said where she lives and was erased a moment ago: no worker has come to it, and the index has all of it. */
async function erasedAnn() {
  const bench = await searchBench();
  const { engine, app } = bench;
  await engine.post([{ content: 'Ann lives in Berlin', role: 'user' }]);
  await engine.run();
  const memory = await bench.remember('Ann likes tea from Berlin');
  await requestErasure(engine.deps, DEFAULT_TENANT, ANN);
  const get = (url: string) => app.inject({ method: 'GET', url });
  const post = (url: string, payload: object) => app.inject({ method: 'POST', url, payload });
  return { ...bench, memory, get, post };
}

const READS = [
  ['/v1/search', { mode: 'hybrid' }],
  ['/v1/search', { mode: 'vector' }],
  ['/v1/search', { mode: 'keyword' }],
  ['/v1/search', { latest_only: false, include: ['messages', 'sources', 'history', 'relations'], before: 5, after: 5 }],
  ['/v1/search', { as_of: '2100-01-01T00:00:00Z', timeout_ms: 5_000 }],
  ['/v1/context', { sections: ['memories', 'profile', 'summary', 'pending', 'relations'], as_of: undefined }],
  ['/v1/recall', {}],
] as const;

test.each(READS)(
  '%s %o of the id of an erased user finds nothing, and then what the new one says',
  async (url, more) => {
    const { post, remember, engine } = await erasedAnn();
    const asked = { query: 'where does Ann live, Berlin or Oslo', user_id: 'ann', ...more };
    expect((await post(url, asked)).body).not.toMatch(/Ann l(ives|ikes)/);
    await remember('Ann lives in Oslo');
    await engine.post(['Ann is new in Oslo']);
    await engine.run();
    const answer = await post(url, asked);
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toContain('Oslo');
    expect(answer.body).not.toContain('Ann lives in Berlin');
    expect(answer.body).not.toContain('tea from Berlin');
  },
);

test('what is known of an erased user by its id is not there, nor listed', async () => {
  const { get, memory, remember } = await erasedAnn();
  await remember('Ann lives in Oslo');
  for (const path of ['', '/history', '/sources']) {
    expect((await get(`/v1/memories/${memory}${path}`)).statusCode).toBe(404);
  }
  expect((await get('/v1/memories?user_id=ann')).json().results).toMatchObject([{ memory: 'Ann lives in Oslo' }]);
});

test('a recall in which somebody is erased answers nobody, and reads nothing of the one who comes next', async () => {
  const { engine, remember } = await searchBench();
  const { ledger, index, tools } = engine.deps;
  await remember('Ann lives in Berlin');
  const chat = fakeChat({
    recall_step: (_input, nth) =>
      nth === 1 ? { queries: ['Ann lives in Oslo'] } : { answer: 'In Berlin.', cites: [] },
  });
  const acting = {
    ...chat,
    ask: async (...call: Parameters<typeof chat.ask>) => {
      if (chat.calls.length === 0) {
        await requestErasure(engine.deps, DEFAULT_TENANT, ANN);
        await remember('Ann lives in Oslo since May');
      }
      return chat.ask(...call);
    },
  };
  const { app } = await searchBench({
    ledger,
    index,
    tools,
    reader: { ledger, tools, settings: engine.deps.settings, chat: acting, meter: silentMeter, ...ONE_CHAT },
  });
  const payload = { query: 'where does Ann live', user_id: 'ann' };
  const answer = await app.inject({ method: 'POST', url: '/v1/recall', payload });
  expect(answer.json()).toMatchObject({ status: 409, code: 'conflict' });
  expect(answer.body).not.toContain('Berlin');
  expect(chat.calls.map(({ user }) => user).join()).not.toContain('since May');
});

test('while the ledger does not answer nothing is searched: nobody knows whose life the index tells', async () => {
  const { engine, remember } = await searchBench();
  const { ledger, index, tools } = engine.deps;
  await remember('Ann lives in Berlin');
  const find = async (): Promise<never> => {
    throw new EngineError('the ledger is away', { code: 'ledger_unavailable', retryable: true });
  };
  const { search } = await searchBench({ ledger: { ...ledger, lanes: { ...ledger.lanes, find } }, index, tools });
  for (const timeout_ms of [undefined, 5_000]) {
    const answer = await search({ query: 'Berlin', user_id: 'ann', timeout_ms });
    expect(answer.json()).toMatchObject({ status: 503, code: 'unavailable' });
  }
});
