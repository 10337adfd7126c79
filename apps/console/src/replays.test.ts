import { sweepReplays } from '@slowwave/engine';
import { NEVER } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

/** So many batches that the model could not read, each of a user of its own. */
async function parked(count: number) {
  const broken = { now: true };
  const bench = await consoleBench({ broken });
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) ids.push(await bench.engine.post([`home: street ${i}`], { userId: `user-${i}` }));
  await bench.engine.run();
  broken.now = false;
  const sweep = () => sweepReplays({ ...bench.engine.deps, nudge: bench.deps.nudge }, NEVER);
  return { ...bench, ids, broken, sweep };
}

test('parked batches are counted first, then replayed, scheduled and followed until they are through', async () => {
  const { send, app, engine, nudged, batchState, ids, sweep } = await parked(2);
  const [id = '', other = ''] = ids;
  const rehearsed = await send('POST', '/v1/replays', { filter: { user_id: 'user-0' }, dry_run: true });
  expect(rehearsed.json()).toMatchObject({ dry_run: true, matched: 1, sample: [{ id, state: 'parked' }] });
  expect(rehearsed.json().sample[0].error.code).toBe('model_output_unusable');
  expect(await batchState(id)).toBe('parked');
  expect((await app.inject('/v1/replays')).json().results).toEqual([]);

  const replayed = await send('POST', '/v1/replays', { filter: { batch_ids: [id] } });
  expect(replayed.statusCode).toBe(202);
  expect(replayed.json()).toMatchObject({ matched: 1, replayed: 1, waiting: 1, consolidated: 0, state: 'running' });
  expect(nudged).toHaveLength(1);
  expect(await batchState(other)).toBe('parked');
  await engine.run();
  await sweep();
  const url = String(replayed.headers.location);
  const done = (await app.inject(url)).json();
  expect(done).toMatchObject({ state: 'done', waiting: 0, consolidated: 1, parked: 0, waiting_for: null });
  expect(done.finished_at).not.toBeNull();
  expect((await app.inject('/v1/replays')).json().results).toMatchObject([{ id: done.id, state: 'done' }]);
});

test('many are put back in slices by the workers, and what fails again is counted', async () => {
  const { send, app, engine, broken, sweep } = await parked(600);
  const { id } = (await send('POST', '/v1/replays', { filter: {} })).json();
  const view = async () => (await app.inject(`/v1/replays/${id}`)).json();
  const first = await view();
  expect(first).toMatchObject({ state: 'preparing', matched: 600 });
  expect(first.replayed).toBeGreaterThan(0);
  expect(first.replayed).toBeLessThan(600);
  await engine.run();
  broken.now = true;
  await sweep();
  expect(await view()).toMatchObject({ state: 'running', replayed: 600, consolidated: first.replayed });
  await engine.run();
  await sweep();
  expect(await view()).toMatchObject({ state: 'done', consolidated: first.replayed, parked: 600 - first.replayed });
});

test('the same key is the same replay, and the same filter again finds nothing left to do', async () => {
  const { app, send } = await parked(1);
  const post = (payload: object) =>
    app.inject({ method: 'POST', url: '/v1/replays', payload, headers: { 'idempotency-key': 'again' } });
  const first = await post({ filter: { user_id: 'user-0' } });
  const second = await post({ filter: { user_id: 'user-0' } });
  expect([first.statusCode, second.statusCode]).toEqual([202, 200]);
  expect(second.json().id).toBe(first.json().id);
  expect((await post({ filter: {} })).json()).toMatchObject({ status: 409, code: 'idempotency_conflict' });
  expect((await send('POST', '/v1/replays', { filter: {} })).json()).toMatchObject({ matched: 0, replayed: 0 });
});

test.each([
  ['POST', '/v1/replays', {}, { status: 400, code: 'invalid_request' }],
  ['POST', '/v1/replays', { filter: { batch_ids: [] } }, { status: 400, code: 'invalid_request' }],
  ['POST', '/v1/replays', { filter: { since: 'yesterday' } }, { status: 400, code: 'invalid_request' }],
  ['GET', '/v1/replays/rpl_unknown', undefined, { status: 404, code: 'not_found' }],
  ['GET', '/v1/replays?cursor=x', undefined, { status: 400, code: 'invalid_cursor' }],
] as const)('%s %s with %j is refused as the mistake it is', async (...[method, url, payload, told]) => {
  const { app } = await consoleBench();
  const answer = await app.inject({ method, url, ...(payload !== undefined && { payload }) });
  expect(answer.json()).toMatchObject(told);
});
