import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

test('a consolidation from before relations were kept is studied when that is asked for', async () => {
  const { app, engine } = await consoleBench();
  await engine.post(['Ann lives in Berlin']);
  await engine.run();
  const { results } = (await app.inject('/v1/consolidations?user_id=ann')).json();
  const url = `/v1/consolidations/${results[0].id}/graph`;
  expect((await app.inject(url)).json()).toMatchObject({ status: 404, code: 'not_found' });
  const asked = await app.inject({ method: 'POST', url });
  expect([asked.statusCode, asked.json()]).toMatchObject([202, { state: 'pending', attempts: 0, plan: null }]);
  expect((await app.inject(url)).json()).toEqual(asked.json());
  expect((await app.inject({ method: 'POST', url })).json()).toMatchObject({ status: 409, code: 'conflict' });
});

test('what is no consolidation has no study', async () => {
  const { app } = await consoleBench();
  const url = '/v1/consolidations/con_unknown/graph';
  expect((await app.inject({ method: 'POST', url })).json()).toMatchObject({ status: 404, code: 'not_found' });
});
