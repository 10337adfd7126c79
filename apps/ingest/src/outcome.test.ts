import { expect, test } from 'vitest';
import { ingestBench } from './testing/bench.ts';

const hello = { user_id: 'ann', messages: [{ role: 'user', content: 'I moved to Berlin.' }] };

test('a consolidated batch shows what became of it and what it cost', async () => {
  const { app, post, engine } = await ingestBench();
  const { batch_id: id } = (await post({ ...hello, flush: true })).json();
  await engine.run();
  const batch = (await app.inject(`/v1/batches/${id}`)).json();
  expect(batch).toMatchObject({
    id,
    user_id: 'ann',
    agent_id: null,
    state: 'consolidated',
    stage: 'done',
    error: null,
    messages: 1,
    events: [{ event: 'ADD', memory: 'I moved to Berlin.', previous: null }],
    timings: { accepted_at: '2026-03-01T09:00:00.000Z' },
  });
  expect(batch.usage.calls).toBeGreaterThan(0);
  expect(batch.timings.searchable_at).toMatch(/Z$/);
});

test('waiting for a batch ends when it is done', async () => {
  const { app, post, engine } = await ingestBench();
  const { batch_id: id } = (await post({ ...hello, flush: true })).json();
  const waiting = app.inject(`/v1/batches/${id}?wait=30000`);
  await engine.run();
  expect((await waiting).json().state).toBe('consolidated');
});

test('posting with wait answers with the outcome', async () => {
  const { app, engine } = await ingestBench();
  const posted = app.inject({ method: 'POST', url: '/v1/batches?wait=30000', payload: { ...hello, flush: true } });
  const runs = setInterval(() => void engine.run(), 20);
  const answer = await posted;
  clearInterval(runs);
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toMatchObject({ state: 'consolidated', events: [{ event: 'ADD' }] });
});

test('when the time is up the batch is shown as it stands', async () => {
  const { app } = await ingestBench();
  const answer = await app.inject({ method: 'POST', url: '/v1/batches?wait=20', payload: hello });
  expect(answer.statusCode).toBe(202);
  expect(answer.json()).toMatchObject({ state: 'pending', events: [], usage: null });
  expect(answer.headers.location).toBe(`/v1/batches/${answer.json().id}`);
});

test('a stopping service does not keep waiting callers', async () => {
  const { app, post } = await ingestBench();
  const { batch_id: id } = (await post(hello)).json();
  const waiting = app.inject(`/v1/batches/${id}?wait=60000`);
  await app.inject('/healthz');
  await app.close();
  expect((await waiting).json().state).toBe('pending');
});

test('batches are listed newest first, by state and user, page by page', async () => {
  const { app, post, engine } = await ingestBench();
  for (const user_id of ['ann', 'bob', 'ann']) {
    engine.tools.advance(1_000);
    await post({ ...hello, user_id });
  }
  const first = (await app.inject('/v1/batches?user_id=ann&limit=1')).json();
  const second = (await app.inject(`/v1/batches?user_id=ann&limit=1&cursor=${first.next_cursor}`)).json();
  expect([...first.results, ...second.results].map(({ user_id }) => user_id)).toEqual(['ann', 'ann']);
  expect(first.results[0].timings.accepted_at > second.results[0].timings.accepted_at).toBe(true);
  expect(second.next_cursor).toBeNull();
  expect((await app.inject('/v1/batches?state=parked')).json().results).toEqual([]);
  expect((await app.inject('/v1/batches?since=2026-03-01T10:00:02%2B01:00')).json().results).toHaveLength(2);
});

test('a flush makes what waits due now', async () => {
  const { app, post, nudged } = await ingestBench();
  await post(hello);
  const answer = await app.inject({ method: 'POST', url: '/v1/flush', payload: { user_id: 'ann' } });
  expect(answer.json()).toEqual({ pending: 1 });
  expect(nudged.at(-1)?.dueAt).toBe(Date.parse('2026-03-01T09:00:00Z'));
  const nothing = await app.inject({ method: 'POST', url: '/v1/flush', payload: { user_id: 'nobody' } });
  expect(nothing.json()).toEqual({ pending: 0 });
});
