import { DEFAULT_TENANT } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

const HOUR = 3_600_000;

test('an empty installation has nothing to show, hour by hour', async () => {
  const { app } = await consoleBench();
  const { statusCode, ...answer } = await app.inject('/v1/overview');
  const overview = answer.json();
  expect(statusCode).toBe(200);
  expect(overview).toMatchObject({
    batches: { pending: 0, consolidating: 0, parked: 0 },
    ...{ oldest_due_at: null, reviews_waiting: 0, parked: [], usage: [] },
    freshness: { batches: 0, p50_ms: null, p95_ms: null },
    answers: { search: 0, context: 0, recall: 0 },
    today: { tokens: { used: 0, limit: null }, cost: { used: 0, limit: null } },
  });
  expect(overview.history.hours).toHaveLength(24);
  expect((await app.inject('/v1/overview?period=week')).json().history.hours).toHaveLength(168);
  expect((await app.inject('/v1/overview?period=year')).statusCode).toBe(400);
});

test('what was said, thought and parked is counted in the hour it was accepted, with what it took', async () => {
  const broken = { now: false };
  const { app, engine } = await consoleBench({ broken });
  const start = Math.ceil(engine.tools.now() / HOUR) * HOUR;
  engine.tools.set(start);
  await engine.post(['home: Berlin']);
  engine.tools.advance(5_000);
  await engine.run();
  broken.now = true;
  await engine.post(['home: Rome'], { userId: 'bob' });
  await engine.run();
  const overview = (await app.inject('/v1/overview')).json();
  const hour = overview.history.hours.find(({ at }: { at: string }) => Date.parse(at) === start);
  expect(hour).toMatchObject({ consolidated: 1, parked: 1, pending: 0 });
  expect(overview.parked).toEqual([{ code: 'model_output_unusable', batches: 1 }]);
  expect(overview.freshness).toEqual({ batches: 1, p50_ms: 5_000, p95_ms: 5_000 });
  const calls = overview.usage.reduce((sum: number, used: { calls: number }) => sum + used.calls, 0);
  expect(calls).toBe((await engine.deps.ledger.overview.usage(DEFAULT_TENANT)).calls);
  expect(overview.usage.map(({ step }: { step: string }) => step)).toContain('extract');
});

test('the limit of a day is the lower of the budget and of what the operator allows', async () => {
  const ceilings = { tokensPerDay: 1_000, costPerDay: null };
  const { app, send } = await consoleBench({ ceilings });
  await send('PUT', '/v1/settings', { budgets: { tokens_per_day: 5_000, cost_per_day: 2 } });
  expect((await app.inject('/v1/overview')).json().today).toMatchObject({
    tokens: { limit: 1_000 },
    cost: { limit: 2 },
  });
  await send('PUT', '/v1/settings', { budgets: { tokens_per_day: 500 } });
  expect((await app.inject('/v1/overview')).json().today).toMatchObject({
    tokens: { limit: 500 },
    cost: { limit: null },
  });
});

test('a tenant sees its own figures alone', async () => {
  const STATIC = 'the-key-of-the-operator';
  const { app, engine } = await consoleBench({ apiKey: STATIC, audited: true });
  const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
  const made = await app.inject({
    ...as(STATIC),
    method: 'POST',
    url: '/v1/keys',
    payload: { name: 'k', scopes: ['admin'], tenant: 'acme' },
  });
  await engine.post(['home: Berlin']);
  const ofAcme = await app.inject({ ...as(made.json().secret), url: '/v1/overview' });
  expect(ofAcme.json().batches.pending).toBe(0);
  const ofOperator = await app.inject({ ...as(STATIC), url: '/v1/overview' });
  expect(ofOperator.json().batches.pending).toBe(1);
});

const DAY_MS = 86_400_000;

test('what was consolidated lately stands beside what was before, figure by figure and by model', async () => {
  const { app, engine } = await consoleBench();
  const drift = async (query = '') => (await app.inject(`/v1/drift${query}`)).json();
  expect(await drift()).toMatchObject({ models: [], figures: [] });
  for (const userId of ['ann', 'bob', 'cid', 'dan', 'eve', 'fay']) await engine.post(['home: Berlin'], { userId });
  await engine.run();
  engine.tools.advance(8 * DAY_MS);
  await engine.post(['home: Rome', 'tea: green']);
  await engine.run();
  const seen = await drift();
  expect(seen.models).toEqual([{ model: 'scripted', before: 6, recent: 1 }]);
  const figure = (name: string) => seen.figures.find((one: { figure: string }) => one.figure === name);
  expect(figure('adds')).toMatchObject({
    ...{ kind: 'share', worse: 'either', before: 1, n: { before: 6, recent: 2 } },
    ...{ difference: null, verdict: 'unclear' },
  });
  expect(seen.opinions[0]).toEqual({
    of: 'consolidations',
    before: { against: 0, of: 6 },
    recent: { against: 0, of: 1 },
  });
  expect(Date.parse(seen.recent.from) - Date.parse(seen.before.from)).toBe(28 * DAY_MS);
  expect((await drift('?model=another')).figures).toEqual([]);
  expect((await app.inject('/v1/drift?days=3')).statusCode).toBe(400);
});
