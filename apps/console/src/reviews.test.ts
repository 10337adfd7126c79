import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

test('an operation of a chosen kind waits; its review and its plan tell what it would do', async () => {
  const { waiting, app, engine } = await reviewBench('ADD');
  const [review] = await waiting();
  expect(review).toMatchObject({
    state: 'pending',
    user_id: 'ann',
    event: 'ADD',
    memory_id: null,
    before: null,
    after: 'Ann lives in Berlin',
    fact: { id: 'f0', text: 'Ann lives in Berlin' },
    note: null,
    settled_at: null,
  });
  expect(await engine.live()).toEqual([]);
  const { plan } = (await app.inject(`/v1/consolidations/${review.consolidation_id}`)).json();
  expect(plan.held).toMatchObject([{ review_id: review.id, event: 'ADD', after: 'Ann lives in Berlin' }]);
  expect(plan.outcomes).toMatchObject([{ outcome: 'ADD', reason: expect.stringContaining('is waiting for review') }]);
  expect(plan.events).toEqual([]);
});

test('an approved operation is carried out, and its event tells who did it', async () => {
  const { waiting, decide, engine } = await reviewBench('ADD');
  const [review] = await waiting();
  const answer = await decide(review.id, 'approve');
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toMatchObject({ id: review.id, state: 'approved', memory_id: expect.stringMatching(/^mem_/) });
  expect(await engine.live()).toEqual(['Ann lives in Berlin']);
  const history = await engine.deps.ledger.memories.history('default' as never, answer.json().memory_id, {
    limit: 9,
    cursor: null,
  });
  expect(history.results).toMatchObject([{ actor: 'review', consolidationId: review.consolidation_id }]);
  expect(await waiting()).toEqual([]);
});

test('an operation is approved with another text, which is what is remembered; the review keeps what was proposed', async () => {
  const { waiting, settle, engine } = await reviewBench('ADD');
  const [review] = await waiting();
  const answer = await settle(review.id, { decision: 'approve', memory: 'Ann lives in Bergen' });
  expect(answer.json()).toMatchObject({ state: 'approved', after: 'Ann lives in Berlin' });
  expect(await engine.live()).toEqual(['Ann lives in Bergen']);
  const id = answer.json().memory_id;
  const history = await engine.deps.ledger.memories.history('default' as never, id, { limit: 9, cursor: null });
  expect(history.results[0]?.reason).toContain('the text was edited by the reviewer');
});

test('a text is refused where nothing of it would be remembered, and what it holds of secrets never is', async () => {
  const { waiting, settle, send, engine } = await reviewBench('ADD');
  const [review] = await waiting();
  const refused = await settle(review.id, { decision: 'reject', memory: 'Ann lives in Bergen' });
  expect(refused.json()).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ path: 'memory' }] });
  await send('PUT', '/v1/settings', { personal_data: 'mask' });
  await settle(review.id, { decision: 'approve', memory: 'Ann is ann@example.com' });
  expect(String(await engine.live())).not.toContain('ann@example.com');
});

test('a deletion is approved without a text', async () => {
  const { send, waiting, settle, engine } = await reviewBench('DELETE');
  const [memory] = await engine.memories();
  await send('POST', `/v1/memories/${memory?.id}/feedback`, { rating: 'very_negative' });
  const [review] = await waiting();
  const refused = await settle(review.id, { decision: 'approve', memory: 'Ann lives in Bergen' });
  expect(refused.json()).toMatchObject({ status: 400, errors: [{ path: 'memory' }] });
  expect(await waiting()).toHaveLength(1);
});

test('a rejected operation changes nothing', async () => {
  const { waiting, decide, engine, app } = await reviewBench('ADD');
  const [review] = await waiting();
  expect((await decide(review.id, 'reject')).json()).toMatchObject({ state: 'rejected' });
  expect(await engine.live()).toEqual([]);
  expect((await app.inject('/v1/reviews?state=rejected&user_id=ann')).json().results).toHaveLength(1);
});

test('a decision is made once', async () => {
  const { waiting, decide } = await reviewBench('ADD');
  const [review] = await waiting();
  await decide(review.id, 'approve');
  for (const decision of ['approve', 'reject']) {
    const again = (await decide(review.id, decision)).json();
    expect(again).toMatchObject({ status: 409, code: 'conflict' });
    expect(again.detail).toContain('already approved');
  }
});

test('an operation that comes too late is stale, and says why', async () => {
  const { send, waiting, decide, say } = await reviewBench('ADD', []);
  const { id } = (await send('POST', '/v1/memories', { memory: 'home: Oslo', user_id: 'ann' })).json();
  await send('PUT', '/v1/settings', { review: ['UPDATE'] });
  await say('home: Berlin');
  const [review] = await waiting();
  expect(review).toMatchObject({ event: 'UPDATE', memory_id: id, before: 'home: Oslo' });
  await send('DELETE', `/v1/memories/${id}`);
  expect((await decide(review.id, 'approve')).json()).toMatchObject({
    state: 'stale',
    note: expect.stringContaining('deleted'),
  });
});

test('what is forgotten since is no longer told by its reviews, until the memory is there again', async () => {
  const { waiting, decide, send, app } = await reviewBench('ADD');
  const [{ id }] = await waiting();
  const { memory_id: memoryId } = (await decide(id, 'approve')).json();
  const listed = async () => (await app.inject('/v1/reviews?user_id=ann')).json().results;
  const before = await listed();
  expect(before).toMatchObject([{ after: 'Ann lives in Berlin', fact: { text: 'Ann lives in Berlin' } }]);
  await send('DELETE', `/v1/memories/${memoryId}`);
  const [after] = await listed();
  expect(after).toMatchObject({
    id,
    state: 'approved',
    memory_id: memoryId,
    forgotten: true,
    before: null,
    after: null,
  });
  expect(after.fact).toMatchObject({ id: 'f0', text: null, quote: null });
  expect(JSON.stringify(after)).not.toContain('Berlin');
  await send('POST', `/v1/memories/${memoryId}/restore`, { version: 1 });
  expect(await listed()).toEqual(before);
});

test('a review of a memory that is forgotten while it waits tells nothing of it, and can be answered', async () => {
  const { send, waiting, decide, say } = await reviewBench('ADD', []);
  const { id } = (await send('POST', '/v1/memories', { memory: 'home: Oslo', user_id: 'ann' })).json();
  await send('PUT', '/v1/settings', { review: ['UPDATE'] });
  await say('home: Berlin');
  await send('DELETE', `/v1/memories/${id}`);
  const [review] = await waiting();
  expect(review).toMatchObject({ state: 'pending', memory_id: id, forgotten: true, before: null, after: null });
  expect((await decide(review.id, 'reject')).json()).toMatchObject({ state: 'rejected', forgotten: true });
});

test.each([
  ['POST', '/v1/reviews/rev_unknown', { decision: 'approve' }, { status: 404, code: 'not_found' }],
  ['POST', '/v1/reviews/rev_unknown', { decision: 'maybe' }, { status: 400, code: 'invalid_request' }],
  ['POST', '/v1/reviews/rev_unknown', {}, { status: 400, code: 'invalid_request' }],
  ['POST', '/v1/reviews/rev_unknown', { decision: 'approve', text: 'x' }, { status: 400, code: 'invalid_request' }],
  ['GET', '/v1/reviews?state=open', undefined, { status: 400, code: 'invalid_request' }],
  ['GET', '/v1/reviews?cursor=x', undefined, { status: 400, code: 'invalid_cursor' }],
  ['DELETE', '/v1/reviews', undefined, { status: 405, code: 'method_not_allowed' }],
] as const)('%s %s with %j is refused as the mistake it is', async (...[method, url, payload, told]) => {
  const { app } = await consoleBench();
  const answer = await app.inject({ method, url, ...(payload !== undefined && { payload }) });
  expect(answer.json()).toMatchObject(told);
});

/** Ann said where she lives, while operations of a kind wait for a person. */
async function reviewBench(kind: string, texts: readonly string[] = ['Ann lives in Berlin']) {
  const bench = await consoleBench();
  const { app, engine, send } = bench;
  await send('PUT', '/v1/settings', { review: [kind] });
  const say = async (...said: readonly string[]) => {
    engine.tools.advance(60_000);
    await engine.post(said);
    await engine.run();
    engine.tools.advance(60_000);
  };
  if (texts.length > 0) await say(...texts);
  return {
    ...bench,
    say,
    waiting: async () => (await app.inject('/v1/reviews?state=pending')).json().results,
    decide: (id: string, decision: string) => send('POST', `/v1/reviews/${id}`, { decision }),
    settle: (id: string, body: object) => send('POST', `/v1/reviews/${id}`, body),
  };
}
