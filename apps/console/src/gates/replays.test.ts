import { DEFAULT_TENANT, isoOf, sweepReplays } from '@slowwave/engine';
import { echoExtract, NEVER, type Script } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { consoleBench } from '../testing/bench.ts';

/** So many batches that the model could not read, each of a user of its own. */
async function parked(count: number) {
  const broken = { now: true };
  const bench = await consoleBench({ broken });
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) ids.push(await bench.engine.post([`home: street ${i}`], { userId: `user-${i}` }));
  await bench.engine.run();
  broken.now = false;
  const sweep = () => sweepReplays({ ...bench.engine.deps, ...bench.deps }, NEVER);
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
  const { send, app, engine, broken, sweep } = await parked(510);
  const { id } = (await send('POST', '/v1/replays', { filter: {} })).json();
  const view = async () => (await app.inject(`/v1/replays/${id}`)).json();
  const first = await view();
  expect(first).toMatchObject({ state: 'preparing', matched: 510 });
  expect(first.replayed).toBeGreaterThan(0);
  expect(first.replayed).toBeLessThan(510);
  await engine.run();
  broken.now = true;
  await sweep();
  expect(await view()).toMatchObject({ state: 'running', replayed: 510, consolidated: first.replayed });
  await engine.run();
  await sweep();
  expect(await view()).toMatchObject({ state: 'done', consolidated: first.replayed, parked: 510 - first.replayed });
});

test('the reasons for which batches are parked say how many there are and what to do', async () => {
  const { app } = await parked(2);
  const { results } = (await app.inject('/v1/parked')).json();
  expect(results).toMatchObject([{ code: 'model_output_unusable', batches: 2, owners: 2 }]);
  expect(results[0].remedy).toContain('Then replay.');
  expect(results[0].example).toContain('expected');
});

test('turns that failed are no longer shown once nothing of their lane is parked', async () => {
  const { send, engine, forgotten, ids, broken } = await parked(2);
  broken.now = true;
  const again = await engine.post(['home: street 9'], { userId: 'user-0' });
  await engine.run();
  const laneOf = async (id: string) => (await engine.deps.ledger.batches.get(DEFAULT_TENANT, id))?.lane;
  await send('POST', '/v1/replays', { filter: { batch_ids: [again, ids[1] ?? ''] } });
  expect(forgotten).toEqual([await laneOf(ids[1] ?? '')]);
  await send('POST', '/v1/replays', { filter: {} });
  expect(forgotten.at(-1)).toBe(await laneOf(again));
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

/** A batch of ann that was consolidated and undone, in a bench that counts what its model is asked. */
async function undone() {
  const asked: string[] = [];
  const extract: Script = (input, nth) => {
    asked.push('extract');
    return echoExtract(input, nth);
  };
  const bench = await consoleBench({ scripts: { extract_facts: extract } });
  const { engine, send, app } = bench;
  const batch = await engine.post(['home: Oslo']);
  await engine.run();
  const show = async (id: string) => (await app.inject(`/v1/consolidations/${id}`)).json();
  const consolidation = async () =>
    (await engine.deps.ledger.batches.get(DEFAULT_TENANT, batch))?.consolidationId ?? '';
  const former = await consolidation();
  const between = isoOf(engine.tools.now());
  engine.tools.advance(1_000);
  const undo = (await send('POST', `/v1/consolidations/${former}/undo`, {})).json().undo.id;
  return { ...bench, batch, former, between, undo, asked, show, consolidation };
}

test('undone batches are consolidated again where that is asked for; with nothing changed, nothing is asked or paid twice', async () => {
  const { send, engine, batch, former, batchState, asked, show, consolidation, nudged } = await undone();
  expect((await send('POST', '/v1/replays', { filter: {} })).json()).toMatchObject({ matched: 0 });
  expect(await batchState(batch)).toBe('undone');
  const filter = { state: 'undone', user_id: 'ann' };
  const rehearsed = await send('POST', '/v1/replays', { filter, dry_run: true });
  expect(rehearsed.json()).toMatchObject({ matched: 1, sample: [{ id: batch, state: 'undone' }] });
  const usage = async () => (await engine.deps.ledger.overview.usage(DEFAULT_TENANT)).calls;
  const before = await usage();
  const replayed = await send('POST', '/v1/replays', { filter });
  expect(replayed.json()).toMatchObject({ kind: 'live', matched: 1, replayed: 1, waiting: 1 });
  expect(nudged).toHaveLength(1);
  await engine.run();
  expect(await batchState(batch)).toBe('consolidated');
  expect(await engine.live()).toEqual(['home: Oslo']);
  const again = await show(await consolidation());
  expect(again.id).not.toBe(former);
  expect(again.answers).toMatchObject([{ step: 'extract', reused_from: former }]);
  expect(again.plan.usage.calls).toBe(0);
  expect([asked.length, await usage()]).toEqual([1, before]);
  expect((await show(former)).answers).toMatchObject([{ reused_from: null }]);
});

test('with other instructions the model is asked anew', async () => {
  const { send, engine, batch, asked, show, consolidation } = await undone();
  await send('PUT', '/v1/settings', { instructions: 'Remember homes.' });
  await send('POST', '/v1/replays', { filter: { state: 'undone', batch_ids: [batch] } });
  await engine.run();
  expect(asked).toHaveLength(2);
  expect((await show(await consolidation())).answers).toMatchObject([{ step: 'extract', reused_from: null }]);
});

test('what was replayed is not redone, and says why; its new consolidation is undone as any', async () => {
  const { send, engine, batch, former, undo, consolidation, batchState } = await undone();
  await send('POST', '/v1/replays', { filter: { state: 'undone' } });
  const redo = async () => (await send('POST', `/v1/undos/${undo}/redo`, {})).json();
  const refused = { status: 409, code: 'conflict', detail: expect.stringMatching(/replayed.*; keep what/) };
  expect(await redo()).toMatchObject(refused);
  await engine.run();
  const said = await redo();
  expect(said).toMatchObject(refused);
  for (const named of [batch, former]) expect(said.detail).toContain(named);
  const second = await send('POST', `/v1/consolidations/${await consolidation()}/undo`, {});
  expect(second.json()).toMatchObject({ changed: 1 });
  expect([await batchState(batch), await engine.live()]).toEqual(['undone', []]);
  expect(await redo()).toMatchObject(refused);
  expect((await send('POST', `/v1/undos/${second.json().undo.id}/redo`, {})).statusCode).toBe(200);
  expect([await batchState(batch), await engine.live()]).toEqual(['consolidated', ['home: Oslo']]);
});

test('a rollback to before the undo of what was replayed is refused, and one to after it is not', async () => {
  const { send, engine, between } = await undone();
  const after = isoOf(engine.tools.now());
  engine.tools.advance(1_000);
  await send('POST', '/v1/replays', { filter: { state: 'undone' } });
  await engine.run();
  const rollback = async (to: string) => (await send('POST', '/v1/users/ann/rollback', { to })).json();
  const detail = expect.stringMatching(/replayed.*; roll back to a time after that undo/);
  expect(await rollback(between)).toMatchObject({ status: 409, code: 'conflict', detail });
  expect(await engine.live()).toEqual(['home: Oslo']);
  expect(await rollback(after)).toMatchObject({ changed: 1 });
  expect(await engine.live()).toEqual([]);
});

test('batches that retention has emptied are refused by name, and left alone otherwise', async () => {
  const { send, engine, batch, batchState } = await undone();
  const now = engine.tools.now();
  await engine.deps.ledger.retention.removeMessages(DEFAULT_TENANT, now + 1, { now, limit: 10 });
  const named = await send('POST', '/v1/replays', { filter: { state: 'undone', batch_ids: [batch] } });
  expect(named.json()).toMatchObject({
    status: 409,
    code: 'removed_by_retention',
    detail: expect.stringContaining(batch),
  });
  const others = await send('POST', '/v1/replays', { filter: { state: 'undone' } });
  expect(others.json()).toMatchObject({ matched: 1, replayed: 0 });
  expect(await batchState(batch)).toBe('undone');
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
