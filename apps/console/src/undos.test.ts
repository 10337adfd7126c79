import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

test('an undo tells what changed, is listed, and can be taken back', async () => {
  const { say, send, live, app, batchState } = await undoBench();
  const first = await say('home: Oslo');
  const second = await say('home: Bergen');
  const answer = await send('POST', `/v1/consolidations/${second.consolidation}/undo`, {});
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toMatchObject({
    undo: { kind: 'undo', user_id: 'ann', agent_id: null, consolidation_ids: [second.consolidation], memories: 1 },
    memories: [{ before: 'home: Bergen', after: 'home: Oslo' }],
    changed: 1,
    undone: [second.consolidation],
    redone: [],
    dependents: [],
  });
  expect(await live()).toEqual(['home: Oslo']);
  expect([await batchState(first.batch), await batchState(second.batch)]).toEqual(['consolidated', 'undone']);
  const { results } = (await app.inject('/v1/undos?user_id=ann')).json();
  expect(results).toEqual([answer.json().undo]);
  expect((await app.inject('/v1/undos?user_id=bob')).json().results).toEqual([]);
  const redo = (await send('POST', `/v1/undos/${results[0].id}/redo`, {})).json();
  expect(redo).toMatchObject({ undo: { kind: 'redo', undo_ids: [results[0].id] }, redone: [second.consolidation] });
  expect(await live()).toEqual(['home: Bergen']);
  expect(await batchState(second.batch)).toBe('consolidated');
});

test('what depends on it is named with 409, and undone with cascade', async () => {
  const { say, send, live } = await undoBench();
  const first = await say('home: Oslo');
  const second = await say('home: Bergen');
  const refused = (await send('POST', `/v1/consolidations/${first.consolidation}/undo`, {})).json();
  expect(refused).toMatchObject({
    status: 409,
    code: 'has_dependents',
    dependents: [{ kind: 'consolidation', id: second.consolidation, memory_ids: [expect.stringMatching(/^mem_/)] }],
  });
  const dry = (await send('POST', `/v1/consolidations/${first.consolidation}/undo`, { dry_run: true })).json();
  expect(dry).toMatchObject({ undo: null, undone: [first.consolidation, second.consolidation], changed: 1 });
  expect(await live()).toEqual(['home: Bergen']);
  const done = (await send('POST', `/v1/consolidations/${first.consolidation}/undo`, { cascade: true })).json();
  expect(done).toMatchObject({ dependents: [{ id: second.consolidation }], memories: [{ after: null }] });
  expect(await live()).toEqual([]);
});

test('a user goes back to a time, and what was deleted since is there again', async () => {
  const { say, send, live, engine } = await undoBench();
  await say('home: Oslo');
  const to = new Date(engine.tools.now()).toISOString();
  engine.tools.advance(1_000);
  const [memory] = await engine.memories();
  await send('DELETE', `/v1/memories/${memory?.id}`);
  await say('pet: cat');
  expect((await send('POST', '/v1/users/ann/rollback', { to, dry_run: true })).json()).toMatchObject({
    undo: null,
    changed: 2,
  });
  const answer = (await send('POST', '/v1/users/ann/rollback', { to })).json();
  expect(answer).toMatchObject({ undo: { kind: 'rollback', to: expect.any(String) }, changed: 2 });
  expect(await live()).toEqual(['home: Oslo']);
});

test('a version comes back by its number', async () => {
  const { say, send, live, engine } = await undoBench();
  await say('home: Oslo');
  await say('home: Bergen');
  const [memory] = await engine.memories();
  const answer = await send('POST', `/v1/memories/${memory?.id}/restore`, { version: 1 });
  expect(answer.json()).toMatchObject({ memory: 'home: Oslo', version: 3, invalid_at: null });
  expect(await live()).toEqual(['home: Oslo']);
  const unknown = (await send('POST', `/v1/memories/${memory?.id}/restore`, { version: 7 })).json();
  expect(unknown).toMatchObject({ status: 404, detail: expect.stringContaining('/history') });
});

test.each([
  ['/v1/consolidations/con_unknown/undo', {}, { status: 404, code: 'not_found' }],
  ['/v1/consolidations/con_unknown/undo', { force: true }, { status: 400, code: 'invalid_request' }],
  ['/v1/undos/und_unknown/redo', {}, { status: 404, code: 'not_found' }],
  ['/v1/users/nobody/rollback', { to: '2026-03-01T00:00:00Z' }, { status: 404, code: 'not_found' }],
  ['/v1/users/ann/rollback', {}, { status: 400, code: 'invalid_request' }],
  ['/v1/users/ann/rollback', { to: '2126-03-01T00:00:00Z' }, { status: 400, code: 'invalid_request' }],
  ['/v1/memories/mem_unknown/restore', { version: 1 }, { status: 404, code: 'not_found' }],
  ['/v1/memories/mem_unknown/restore', { version: 0 }, { status: 400, code: 'invalid_request' }],
])('POST %s with %j is refused as the mistake it is', async (url, payload, told) => {
  const { send } = await undoBench();
  expect((await send('POST', url, payload)).json()).toMatchObject(told);
});

test('what is undone already is not undone again', async () => {
  const { say, send } = await undoBench();
  const { consolidation } = await say('home: Oslo');
  await send('POST', `/v1/consolidations/${consolidation}/undo`, {});
  const again = (await send('POST', `/v1/consolidations/${consolidation}/undo`, {})).json();
  expect(again).toMatchObject({ status: 409, code: 'conflict', detail: expect.stringContaining('undone') });
});

async function undoBench() {
  const bench = await consoleBench();
  const { engine } = bench;
  return {
    ...bench,
    live: () => engine.live(),
    say: async (text: string) => {
      engine.tools.advance(1_000);
      const batch = await engine.post([text]);
      await engine.run();
      engine.tools.advance(1_000);
      const { consolidationId } = (await engine.deps.ledger.batches.get('default' as never, batch)) ?? {};
      return { batch, consolidation: consolidationId };
    },
  };
}
