import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

test('a consolidation shows what was thought, decided and changed', async () => {
  const { app, engine } = await consoleBench();
  const batchId = await engine.post(['Ann lives in Berlin']);
  await engine.run();
  const { results } = (await app.inject('/v1/consolidations?user_id=ann&state=applied')).json();
  expect(results).toMatchObject([{ user_id: 'ann', state: 'applied', batch_ids: [batchId], error: null }]);
  const shown = (await app.inject(`/v1/consolidations/${results[0].id}`)).json();
  expect(shown.plan).toMatchObject({
    round: 1,
    facts: [{ text: 'Ann lives in Berlin' }],
    outcomes: [{ outcome: 'ADD' }],
    events: [{ event: 'ADD', memory: 'Ann lives in Berlin', version: 1 }],
    held: [],
    cost: null,
    usage: { calls: 1, models: [{ model: 'scripted', calls: 1, cost: null }] },
  });
  expect(shown.answers[0]).toMatchObject({ model: 'scripted' });
  expect(shown.answers[0].output).toContain('Ann lives in Berlin');
});

test('a consolidation costs what its model is priced at', async () => {
  const { app, send, engine } = await consoleBench();
  await send('PUT', '/v1/settings', { prices: { scripted: { prompt: 1, completion: 2 } } });
  await engine.post(['Ann lives in Berlin']);
  await engine.run();
  const { results } = (await app.inject('/v1/consolidations')).json();
  const { plan } = (await app.inject(`/v1/consolidations/${results[0].id}`)).json();
  const { prompt_tokens: asked, completion_tokens: answered } = plan.usage;
  expect(plan.cost).toBeCloseTo((asked + 2 * answered) / 1_000_000, 12);
  expect(plan.usage.models).toMatchObject([{ model: 'scripted', cost: plan.cost }]);
});

test.each([
  ['POST', '/v1/consolidations', {}, { status: 405, code: 'method_not_allowed' }],
  ['GET', '/v1/consolidations/con_unknown', undefined, { status: 404, code: 'not_found' }],
  ['GET', '/v1/consolidations?state=done', undefined, { status: 400, code: 'invalid_request' }],
  ['GET', '/v1/consolidations?cursor=x', undefined, { status: 400, code: 'invalid_cursor' }],
] as const)('%s %s with %j is refused as the mistake it is', async (...[method, url, payload, told]) => {
  const { app } = await consoleBench();
  const answer = await app.inject({ method, url, ...(payload !== undefined && { payload }) });
  expect(answer.json()).toMatchObject(told);
});
