import { DEFAULT_SETTINGS, DEFAULT_TENANT, type Ledger } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { duePolicies } from './batches.ts';
import { ingestBench } from './testing/bench.ts';

const SECOND = 1_000;
const hello = { user_id: 'ann', messages: [{ role: 'user', content: 'I moved to Berlin.' }] };

test('batches are due when the tenant says, a second after it said so at the latest', async () => {
  const { post, nudged, engine } = await ingestBench();
  const { ledger } = engine.deps;
  await post({ ...hello, user_id: 'before' });
  await ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, due: { idleMs: 7 } });
  engine.tools.advance(SECOND);
  await post({ ...hello, user_id: 'after' });
  const waits = nudged.map(({ dueAt }) => dueAt - engine.tools.now());
  expect(waits).toEqual([engine.deps.settings.due.idleMs - SECOND, 7]);
});

test('many batches at once read the settings once, and a failed read is not kept', async () => {
  const { engine } = await ingestBench();
  const { ledger, tools, settings } = engine.deps;
  let reads = 0;
  let away = true;
  const terms: Ledger['settings']['terms'] = async () => {
    reads += 1;
    if (away) throw new Error('the ledger is away');
    return { rules: DEFAULT_SETTINGS, ceilings: null, economy: null, shareEpoch: null };
  };
  const policyOf = duePolicies({
    ledger: { ...ledger, settings: { ...ledger.settings, terms } },
    tools,
    due: settings.due,
  });
  await expect(policyOf(DEFAULT_TENANT)).rejects.toThrow('away');
  away = false;
  const policies = await Promise.all([1, 2, 3].map(() => policyOf(DEFAULT_TENANT)));
  expect(policies).toEqual([1, 2, 3].map(() => ({ due: settings.due, personalData: 'off', timezone: null })));
  expect(reads).toBe(2);
});

test.each([
  ['with the end of the conversation', { ...hello, end_of_conversation: true }, ''],
  ['with flush', { ...hello, flush: true }, ''],
  ['by whoever waits', hello, '?wait=1'],
])('a batch that is posted %s is due at once, with all that waits', async (_how, payload, query) => {
  const { app, post, nudged, engine } = await ingestBench();
  await post(hello);
  engine.tools.advance(1);
  await app.inject({ method: 'POST', url: `/v1/batches${query}`, payload });
  const [lane] = await engine.deps.ledger.lanes.due(engine.tools.now(), 1);
  expect(lane).toEqual(nudged.at(-1));
  await engine.run();
  const { results } = (await app.inject('/v1/batches')).json();
  expect(results.map(({ state }: { state: string }) => state)).toEqual(['consolidated', 'consolidated']);
});

test.each([
  ['asked for', { method: 'GET', url: (id: string) => `/v1/batches/${id}?wait=1` }],
  ['posted again', { method: 'POST', url: () => '/v1/batches?wait=1' }],
] as const)('a batch that was posted before is due once it is %s by whoever waits', async (_how, { method, url }) => {
  const { app, post, nudged, engine } = await ingestBench();
  const keyed = { ...hello, idempotency_key: 'k1' };
  const { batch_id: id } = (await post(keyed)).json();
  const ask = () => app.inject({ method, url: url(id), ...(method === 'POST' && { payload: keyed }) });
  await app.inject(`/v1/batches/${id}`);
  expect(await engine.deps.ledger.lanes.due(engine.tools.now(), 1)).toEqual([]);
  for (let times = 0; times < 2; times += 1) await ask();
  expect(nudged.map(({ generation }) => generation)).toEqual([1, 2]);
  expect(await engine.deps.ledger.lanes.due(engine.tools.now(), 1)).toEqual([nudged[1]]);
});

test('a body that says that the conversation goes on is the same as one that says nothing', async () => {
  const { post } = await ingestBench();
  const keyed = { ...hello, idempotency_key: 'k1' };
  const first = await post(keyed);
  expect((await post({ ...keyed, end_of_conversation: false })).json()).toEqual(first.json());
  expect((await post({ ...keyed, end_of_conversation: true })).statusCode).toBe(409);
});
