import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

const STATE = '/v1/runs/trip/state?user_id=ana';
const PLAN = {
  goal: 'Book a trip',
  steps: [
    { id: 'find', title: 'Find a flight', state: 'done', result: 'LH 2454' },
    { id: 'pay', title: 'Pay', state: 'waiting_for_approval', needs_approval: true },
  ],
  data: { currency: 'EUR' },
};

async function bench() {
  const made = await consoleBench();
  const call = async (method: 'PUT' | 'PATCH' | 'POST', url: string, ...[body, headers = {}]: [object, object?]) => {
    const answer = await made.app.inject({ method, url, payload: body, headers: { ...headers } });
    return { status: answer.statusCode, etag: answer.headers.etag, body: answer.json() };
  };
  const get = async (url: string = STATE) => {
    const answer = await made.app.inject(url);
    return { status: answer.statusCode, etag: answer.headers.etag, body: answer.json() };
  };
  return { ...made, call, get };
}

test('a state is begun, read with its version, changed by whoever has read it, and keeps its history', async () => {
  const { call, get } = await bench();
  expect(await get()).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect(await call('PUT', STATE, PLAN)).toMatchObject({ status: 200, etag: '"1"', body: { version: 1 } });
  expect(await get()).toMatchObject({
    status: 200,
    etag: '"1"',
    body: {
      ...{ run_id: 'trip', user_id: 'ana', agent_id: null, app_id: null, version: 1, goal: 'Book a trip' },
      ...{ waiting_for_approval: ['pay'], data: { currency: 'EUR' }, ended_at: null },
      steps: [
        { id: 'find', title: 'Find a flight', state: 'done', result: 'LH 2454', needs_approval: false },
        { id: 'pay', title: 'Pay', state: 'waiting_for_approval', result: null, needs_approval: true },
      ],
    },
  });
  expect(await call('PUT', STATE, { goal: 'Another' }, { 'if-match': '"1"' })).toMatchObject({ body: { version: 2 } });
  for (const [body, headers] of [
    [{ goal: 'late' }, {}],
    [{ goal: 'late', version: 1 }, {}],
    [{ goal: 'late' }, { 'if-match': '1' }],
  ] as const) {
    expect(await call('PUT', STATE, body, headers)).toMatchObject({
      status: 409,
      body: { code: 'version_conflict', current_version: 2 },
    });
  }
  const differing = await call('PUT', STATE, { version: 2 }, { 'if-match': '"1"' });
  expect(differing).toMatchObject({ status: 400 });
  const history = await get('/v1/runs/trip/state/history?user_id=ana');
  expect(history.body.results.map(({ version, goal }: { version: number; goal: string }) => [version, goal])).toEqual([
    [2, 'Another'],
    [1, 'Book a trip'],
  ]);
});

test('changes of different steps that come at once are all there', async () => {
  const { call, get } = await bench();
  const steps = Array.from({ length: 8 }, (_, i) => ({ id: `s${i}`, title: `Step ${i}` }));
  await call('PUT', STATE, { steps });
  const answers = await Promise.all(
    steps.map(({ id }) => call('PATCH', STATE, { steps: [{ id, state: 'done', result: id }] })),
  );
  expect(answers.map(({ status }) => status)).toEqual(steps.map(() => 200));
  const { body } = await get();
  expect(body.version).toBe(9);
  expect(body.steps.map(({ result }: { result: string }) => result)).toEqual(steps.map(({ id }) => id));
});

test('a request that is sent again under its key changes nothing more', async () => {
  const { call, get } = await bench();
  const headers = { 'idempotency-key': 'k1' };
  await call('PUT', STATE, PLAN, headers);
  expect(await call('PUT', STATE, PLAN, headers)).toMatchObject({ status: 200, body: { version: 1 } });
  const step = { steps: [{ id: 'pay', state: 'done' }] };
  expect(await call('PATCH', STATE, step, headers)).toMatchObject({
    status: 409,
    body: { code: 'idempotency_conflict' },
  });
  await call('PATCH', STATE, step, { 'idempotency-key': 'k2' });
  await call('PATCH', STATE, step, { 'idempotency-key': 'k2' });
  expect((await get()).body.version).toBe(2);
});

test('a run that has ended is read, and not changed any more', async () => {
  const { call, get } = await bench();
  const end = '/v1/runs/trip/end?user_id=ana';
  expect(await call('POST', end, {})).toMatchObject({ status: 404 });
  await call('PUT', STATE, PLAN);
  const ended = await call('POST', end, { version: 1 });
  expect(ended).toMatchObject({ status: 200, body: { version: 2, goal: 'Book a trip' } });
  expect(ended.body.ended_at).not.toBeNull();
  expect(await call('POST', end, {})).toEqual(ended);
  expect(await call('PATCH', STATE, { goal: 'More' })).toMatchObject({ status: 409, body: { code: 'conflict' } });
  const listed = async (query: string) =>
    (await get(`/v1/runs?user_id=ana${query}`)).body.results.map(({ run_id }: { run_id: string }) => run_id);
  await call('PUT', '/v1/runs/next/state?user_id=ana', {});
  expect(await listed('&ended=true')).toEqual(['trip']);
  expect(await listed('&ended=false')).toEqual(['next']);
  expect((await get('/v1/runs')).status).toBe(400);
});

test('runs of one id belong to whoever they are named with, and to the app they were begun under', async () => {
  const { call, get } = await bench();
  for (const owner of ['user_id=ana', 'user_id=bob', 'agent_id=guide', ''])
    expect(await call('PUT', `/v1/runs/trip/state?${owner}`, { goal: owner || 'of its own' })).toMatchObject({
      body: { version: 1 },
    });
  expect((await get('/v1/runs/trip/state')).body).toMatchObject({ goal: 'of its own', user_id: null, agent_id: null });
  expect((await get('/v1/runs/trip/state?agent_id=guide')).body).toMatchObject({ agent_id: 'guide' });
  await call('PUT', '/v1/runs/shopping/state?user_id=ana&app_id=shop', PLAN);
  const other = '/v1/runs/shopping/state?user_id=ana&app_id=health';
  expect((await get(other)).status).toBe(404);
  expect((await call('PATCH', other, { goal: 'Mine' })).status).toBe(404);
  expect((await call('PUT', other, { goal: 'Mine' })).status).toBe(404);
  expect((await get('/v1/runs/shopping/state?user_id=ana')).body).toMatchObject({ app_id: 'shop', version: 1 });
});

test('what is too much, or no state, is refused with its place', async () => {
  const { call } = await bench();
  for (const [body, path] of [
    [{ steps: [{ id: 'a b', title: 'x' }] }, 'steps[0].id'],
    [{ steps: [{ id: 'a' }] }, 'steps[0].title'],
    [{ steps: [{ id: 'a', title: 'x', state: 'lost' }] }, 'steps[0].state'],
    [{ steps: ['a', 'a'].map((id) => ({ id, title: 'x' })) }, 'steps'],
    [{ goal: 'x'.repeat(2_001) }, 'goal'],
    [{ data: { x: 'y'.repeat(16_000) } }, 'data'],
    [{ plan: [] }, 'plan'],
  ] as const) {
    expect((await call('PUT', STATE, body)).body).toMatchObject({ status: 400, errors: [{ path }] });
  }
  await call('PUT', STATE, PLAN);
  expect(await call('PATCH', STATE, { steps: [{ id: 'new', state: 'done' }] })).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', errors: [{ path: 'steps.2.title' }] },
  });
  const long = Array.from({ length: 40 }, (_, i) => ({ id: `s${i}`, title: 'x', result: 'y'.repeat(2_000) }));
  expect((await call('PATCH', STATE, { steps: long })).body.detail).toContain('at most 64000 characters');
});

test('secrets are masked before they are stored', async () => {
  const { call, send, get } = await bench();
  await send('PUT', '/v1/settings', { personal_data: 'mask' });
  const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD';
  await call('PUT', STATE, { goal: `Use ${secret}`, data: { mail: 'ana@example.com' } });
  expect(JSON.stringify((await get()).body)).not.toMatch(/sk-proj|ana@example/);
});

test('a run whose id could not be listed is refused', async () => {
  const { call } = await bench();
  for (const id of ['a%00b', '%20', 'x'.repeat(257)]) {
    expect(await call('PUT', `/v1/runs/${id}/state`, { goal: 'any' })).toMatchObject({ status: 400 });
    expect((await call('POST', `/v1/runs/${id}/end`, { outcome: 'succeeded' })).status).toBe(400);
  }
  expect(await call('PUT', '/v1/runs/a%2Fb/state', { goal: 'any' })).toMatchObject({ status: 200 });
});
