import { DEFAULT_TENANT } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

const batch = { user_id: 'ann', messages: [{ role: 'user', content: 'home: Berlin' }] };

test('a preview shows the whole decision and writes nothing', async () => {
  const { engine, send } = await consoleBench();
  const answer = await send('POST', '/v1/consolidations/preview', batch);
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toMatchObject({
    facts: [{ text: 'home: Berlin' }],
    outcomes: [{ outcome: 'ADD' }],
    operations: [{ event: 'ADD', after: 'home: Berlin' }],
    usage: { calls: 1 },
  });
  expect(await engine.memories('ann')).toEqual([]);
});

test('a preview takes no field that only makes sense for a batch that stays', async () => {
  const { send } = await consoleBench();
  const answer = await send('POST', '/v1/consolidations/preview', { ...batch, flush: true });
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({ code: 'invalid_request' });
});

test('a preview above the budget of the day is refused, and asks no model', async () => {
  const { engine, send } = await consoleBench();
  await send('PUT', '/v1/settings', { budgets: { tokens_per_day: 1 } });
  expect((await send('POST', '/v1/consolidations/preview', batch)).statusCode).toBe(200);
  const used = await engine.deps.ledger.overview.usage(DEFAULT_TENANT);
  const answer = await send('POST', '/v1/consolidations/preview', batch);
  expect(answer.statusCode).toBe(402);
  expect(answer.json()).toMatchObject({ code: 'budget_exhausted', detail: expect.stringContaining('tokens_per_day') });
  expect(await engine.deps.ledger.overview.usage(DEFAULT_TENANT)).toEqual(used);
});
