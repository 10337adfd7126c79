import { type LaneId, sleepLane, sweepNights } from '@slowwave/engine';
import { NEVER } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

const WAITING = { state: 'waiting', why: 'preview', acts: 1, memories: 2, user_id: 'ann', ended_at: null };

test('a night waits with its reasons, is applied, undone and redone', async () => {
  const { app, send, live, sleep } = await nightBench();
  const id = await sleep();
  expect((await app.inject('/v1/nights?user_id=ann&state=waiting')).json().results).toMatchObject([{ id, ...WAITING }]);
  expect((await app.inject('/v1/nights?user_id=bob')).json().results).toEqual([]);
  expect((await app.inject(`/v1/nights/${id}`)).json()).toMatchObject({
    ...WAITING,
    plan: {
      acts: [
        { act: 'merge', before: 'likes tea', after: null, evidence: [{ memory: 'likes green tea' }], asks: false },
      ],
      refused: [],
      calls: 1,
    },
  });
  expect((await app.inject('/v1/usage?group_by=step,cause')).json().results).toMatchObject([
    { step: 'sleep', cause: 'sleep', calls: 1 },
  ]);
  expect(await live()).toEqual(['likes green tea', 'likes tea']);
  expect((await send('POST', `/v1/nights/${id}`, { decision: 'apply' })).json()).toMatchObject({ state: 'applied' });
  expect(await live()).toEqual(['likes green tea']);
  expect((await send('POST', `/v1/nights/${id}`, { decision: 'discard' })).json()).toMatchObject({ code: 'conflict' });
  const { undo } = (await send('POST', `/v1/consolidations/${id}/undo`, {})).json();
  expect(await live()).toEqual(['likes green tea', 'likes tea']);
  expect((await app.inject(`/v1/nights/${id}`)).json()).toMatchObject({ state: 'undone' });
  const without = async (id: string) => (await app.inject(`/v1/users/${id}/without-nights`)).json();
  expect(await without('ann')).toMatchObject({ undo: null, memories: [], changed: 0 });
  await send('POST', `/v1/undos/${undo.id}/redo`, {});
  expect(await live()).toEqual(['likes green tea']);
  expect(await without('ann')).toMatchObject({
    undo: null,
    changed: 1,
    memories: [{ before: null, after: 'likes tea' }],
  });
  expect(await without('bob')).toMatchObject({ code: 'not_found' });
  expect((await app.inject(`/v1/consolidations/${id}`)).json()).toMatchObject({ state: 'applied', batch_ids: [] });
});

test('a night that is discarded changes nothing; one that nobody knows is not found', async () => {
  const { send, live, sleep } = await nightBench();
  const id = await sleep();
  expect((await send('POST', `/v1/nights/${id}`, { decision: 'discard' })).json()).toMatchObject({
    state: 'discarded',
  });
  expect(await live()).toEqual(['likes green tea', 'likes tea']);
  expect((await send('POST', '/v1/nights/con_unknown', { decision: 'apply' })).statusCode).toBe(404);
});

test.each([
  [{ window: { from: '24:00', to: '06:00', timezone: 'UTC' } }, 'sleep.window.from'],
  [{ window: { from: '22:00', to: '06:00', timezone: 'Nowhere' } }, 'sleep.window.timezone'],
  [{ limits: { share: 2 } }, 'sleep.limits.share'],
])('settings that make no sense are refused: %j', async (sleep, path) => {
  const { send } = await nightBench();
  const answer = (await send('PUT', '/v1/settings', { sleep })).json();
  expect(answer).toMatchObject({ code: 'invalid_request', errors: [{ path }] });
});

const DAY_MS = 86_400_000;

/** One user who said the same twice, and whose nights are previewed. */
async function nightBench() {
  const judge = () => ({ pairs: [{ kind: 'same', keep: '1', drop: '0', reason: 'more of it' }] });
  const { app, engine, send } = await consoleBench({ scripts: { judge_neighbours: judge } });
  await send('PUT', '/v1/settings', { sleep: { mode: 'preview' } });
  for (const memory of ['likes tea', 'likes green tea']) {
    engine.tools.advance(1_000);
    await send('POST', '/v1/memories', { user_id: 'ann', memory });
  }
  return {
    app,
    send,
    live: () => engine.live(),
    /** Answers with the night that waits. */
    sleep: async (): Promise<string> => {
      engine.tools.advance(DAY_MS);
      const lanes: LaneId[] = [];
      await sweepNights(engine.deps, { sleep: async (due) => void lanes.push(...due) });
      for (const lane of lanes) await sleepLane({ ...engine.deps, slept: () => {}, takeOverMs: 1_000 })(lane, NEVER);
      return (await app.inject('/v1/nights')).json().results[0].id;
    },
  };
}
