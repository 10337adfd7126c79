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
