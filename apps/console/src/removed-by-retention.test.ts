import { sweepReplays, sweepRetention } from '@slowwave/engine';
import { NEVER } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { consoleBench, OTHER_MODEL } from './testing/bench.ts';

const DAY_MS = 86_400_000;

/** A user who moved twice, fifty days apart, and what retention has left of it. */
async function moved(retention: object) {
  const bench = await consoleBench();
  const { engine, send } = bench;
  const said: { batch: string; at: number }[] = [];
  for (const text of ['home: Oslo', 'home: Rome', 'home: Bern']) {
    said.push({ batch: await engine.post([text]), at: engine.tools.now() });
    await engine.run();
    engine.tools.advance(50 * DAY_MS);
  }
  await send('PUT', '/v1/settings', { retention });
  await sweepRetention(engine.deps, NEVER);
  const [memory] = await engine.memories();
  const id = memory?.id ?? '';
  return { ...bench, id, said };
}

const refusal = (named: string) => ({
  ...{ status: 409, code: 'removed_by_retention' },
  detail: expect.stringContaining(named),
});

test('a version that retention has removed reads so in an export, and is not restored', async () => {
  const { app, send, id, engine } = await moved({ history_days: 30 });
  const lines = (await app.inject('/v1/users/ann/export')).body.split('\n');
  const told = lines.filter((line) => /^\{"type":"(memory|event)"/.test(line));
  expect(told).toHaveLength(4);
  expect(told.join()).toContain('[removed by retention]');
  expect(told.join()).not.toMatch(/Oslo|Rome/);
  expect((await send('POST', `/v1/memories/${id}/restore`, { version: 1 })).json()).toMatchObject(refusal(id));
  expect(await engine.live()).toEqual(['home: Bern']);
});

test('an undo and a rollback that would bring it back are refused, naming the memory', async () => {
  const { engine, send, id, said } = await moved({ history_days: 30 });
  const batch = await engine.deps.ledger.batches.get('default' as never, said[2]?.batch ?? '');
  const undo = await send('POST', `/v1/consolidations/${batch?.consolidationId}/undo`, {});
  expect(undo.json()).toMatchObject(refusal(id));
  const to = new Date((said[2]?.at ?? 0) - 1).toISOString();
  expect((await send('POST', '/v1/users/ann/rollback', { to })).json()).toMatchObject(refusal(id));
  expect(await engine.live()).toEqual(['home: Bern']);
});

test('a what-if of batches is refused whose messages, or whose facts, are gone', async () => {
  for (const retention of [{ messages_days: 30 }, { history_days: 30 }]) {
    const { send, said } = await moved(retention);
    const answer = await send('POST', '/v1/replays', { filter: {}, model: OTHER_MODEL });
    expect(answer.json()).toMatchObject(refusal(said[0]?.batch ?? 'none'));
  }
});

test('a what-if fails, and says of what, where a memory held before its batches what is gone', async () => {
  const { app, send, said, engine, deps, id } = await moved({ history_days: 30 });
  const filter = { batch_ids: [said[2]?.batch] };
  const asked = await send('POST', '/v1/replays', { filter, model: OTHER_MODEL });
  expect(asked.statusCode).toBe(202);
  await sweepReplays({ ...engine.deps, nudge: deps.nudge, forgetFailed: deps.forgetFailed }, NEVER);
  const view = (await app.inject(`/v1/replays/${asked.json().id}`)).json();
  expect(view).toMatchObject({ state: 'failed', result: null, error: { code: 'removed_by_retention' } });
  expect(view.error.message).toContain(id);
});

test('what was forgotten comes back for as long as the tenant says, and then it is too late', async () => {
  const { app, send, engine } = await consoleBench();
  await engine.post(['home: Oslo']);
  await engine.run();
  const [memory] = await engine.memories();
  const id = memory?.id ?? '';
  const forget = () => app.inject({ method: 'DELETE', url: `/v1/memories/${id}` });
  const restore = () => send('POST', `/v1/memories/${id}/restore`, { version: 1 });
  const preview = async () => (await send('POST', '/v1/retention/preview', {})).json().forgotten;
  await send('PUT', '/v1/settings', { retention: { forgotten_days: 7 } });
  await forget();
  engine.tools.advance(6 * DAY_MS);
  await sweepRetention(engine.deps, NEVER);
  expect((await restore()).statusCode).toBe(200);
  await forget();
  engine.tools.advance(8 * DAY_MS);
  expect(await preview()).toBe(1);
  await sweepRetention(engine.deps, NEVER);
  expect(await preview()).toBe(0);
  const late = (await restore()).json();
  expect(late).toMatchObject(refusal('too late'));
  expect(late.detail).toContain('forgotten_days');
  expect((await app.inject('/v1/users/ann/export')).body).not.toContain('Oslo');
});
