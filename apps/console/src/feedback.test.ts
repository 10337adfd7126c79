import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

const oslo = { memory: 'Ann lives in Oslo', user_id: 'ann' };

async function bench(given: Parameters<typeof consoleBench>[0] = {}) {
  const made = await consoleBench(given);
  const { ledger } = made.engine.deps;
  const written = async (body: object): Promise<string> => (await made.send('POST', '/v1/memories', body)).json().id;
  const rate = async (id: string, body: object) => {
    made.engine.tools.advance(1_000);
    const answer = await made.send('POST', `/v1/memories/${id}/feedback`, body);
    return { status: answer.statusCode, body: answer.json() };
  };
  const reasons = async (id: string): Promise<string[]> => {
    const { results } = await ledger.memories.history('default' as never, id, { limit: 100, cursor: null });
    return results.flatMap(({ kind, reason }) => (kind === 'FEEDBACK' ? reason : []));
  };
  const reviews = async () => (await made.app.inject({ url: '/v1/reviews' })).json().results;
  return { ...made, write: written, rate, reasons, reviews };
}

test('a rating shows in the memory, is taken back, and is refused for what is not there', async () => {
  const { write, rate } = await bench();
  const id = await write(oslo);
  expect(await rate(id, { rating: 'positive' })).toMatchObject({ status: 200, body: { id, feedback: 'positive' } });
  expect(await rate(id, { rating: 'none' })).toMatchObject({ status: 200, body: { feedback: null } });
  expect(await rate('mem_none', { rating: 'positive' })).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect(await rate(id, { rating: 'positive', version: 7 })).toMatchObject({ status: 404 });
  for (const wrong of [
    {},
    { rating: 'bad' },
    { rating: 'none', reason: ' ' },
    { rating: 'none', reason: 'x'.repeat(2_001) },
  ])
    expect((await rate(id, wrong)).status).toBe(400);
});

test('a very negative one is reviewed: approving it deletes the memory, and its words are hidden from then on', async () => {
  const { write, rate, reviews, send, app } = await bench();
  const id = await write(oslo);
  await rate(id, { rating: 'very_negative', reason: 'never lived there' });
  const [review] = await reviews();
  expect(review).toMatchObject({
    ...{ state: 'pending', event: 'DELETE', memory_id: id, user_id: 'ann', before: 'Ann lives in Oslo', after: null },
    ...{ reason: 'never lived there', fact: null, consolidation_id: null },
  });
  expect((await send('POST', `/v1/reviews/${review.id}`, { decision: 'approve' })).json()).toMatchObject({
    ...{ state: 'approved', before: null, reason: 'forgotten', forgotten: true, fact: null },
  });
  expect(await rate(id, { rating: 'positive' })).toMatchObject({ status: 404 });
  const lines = (await app.inject({ url: '/v1/users/ann/export' })).body;
  expect(lines).toContain('"event":"FEEDBACK"');
  expect(lines).not.toContain('never lived there');
});

test('an export of what is there has ratings with their reasons', async () => {
  const { write, rate, app } = await bench();
  const id = await write(oslo);
  await rate(id, { rating: 'negative', reason: 'long ago' });
  const lines = (await app.inject({ url: '/v1/users/ann/export' })).body
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.find(({ type }) => type === 'memory')).toMatchObject({ id, feedback: 'negative' });
  const rated = { event: 'FEEDBACK', reason: 'long ago', rated: { version: 1, rating: 'negative' } };
  expect(lines.filter(({ type }) => type === 'event').at(-1)).toMatchObject(rated);
});

test('secrets in a reason are masked, and personal data where the tenant wants that', async () => {
  const { write, rate, reasons, send } = await bench();
  const id = await write(oslo);
  await rate(id, { rating: 'negative', reason: 'my password is hunter2hunter, ask ann@example.com' });
  await send('PUT', '/v1/settings', { personal_data: 'mask' });
  await rate(id, { rating: 'positive', reason: 'ask ann@example.com' });
  const [first, second] = await reasons(id);
  expect(first).not.toContain('hunter2hunter');
  expect(first).toContain('ann@example.com');
  expect(second).toBe('ask [email]');
});

const OPERATOR = 'the-key-of-the-operator';

test('a key that may change memories rates, a narrow one its own alone', async () => {
  const { app, engine } = await consoleBench({ apiKey: OPERATOR, audited: true });
  const post = async (key: string, url: string, payload: object) => {
    engine.tools.advance(1_000);
    const headers = { authorization: `Bearer ${key}` };
    const answer = await app.inject({ method: 'POST', url, headers, payload });
    return { status: answer.statusCode, ...answer.json() };
  };
  const keyFor = async (given: object): Promise<string> =>
    (await post(OPERATOR, '/v1/keys', { name: 'k', scopes: ['manage'], ...given })).secret;
  const { id } = await post(OPERATOR, '/v1/memories', { ...oslo, app_id: 'shop' });
  const rate = (key: string, rating: string) => post(key, `/v1/memories/${id}/feedback`, { rating });
  expect(await rate(await keyFor({ user_id: 'ann' }), 'negative')).toMatchObject({ status: 200, feedback: 'negative' });
  expect(await rate(await keyFor({ app_id: 'shop' }), 'positive')).toMatchObject({ status: 200, feedback: 'positive' });
  for (const narrow of [{ user_id: 'bob' }, { app_id: 'health' }, { tenant: 'other' }])
    expect(await rate(await keyFor(narrow), 'negative')).toMatchObject({ status: 404, code: 'not_found' });
  const reader = await keyFor({ scopes: ['search', 'ingest'] });
  expect(await rate(reader, 'negative')).toMatchObject({ status: 403, code: 'scope_missing' });
  expect(await rate(OPERATOR, 'none')).toMatchObject({ status: 200, feedback: null });
});

test('the audit log says who rated what, and never why', async () => {
  const { app, engine, written } = await consoleBench({ apiKey: OPERATOR, audited: true });
  const headers = { authorization: `Bearer ${OPERATOR}` };
  const post = (url: string, payload: object) => app.inject({ method: 'POST', url, headers, payload });
  const { id } = (await post('/v1/memories', oslo)).json();
  engine.tools.advance(1_000);
  await post(`/v1/memories/${id}/feedback`, { rating: 'negative', reason: 'a long story' });
  await written();
  const log = (await app.inject({ url: '/v1/audit', headers })).json();
  const entry = { by: 'operator', action: 'POST /v1/memories/{id}/feedback', subject: { kind: 'memory', id } };
  expect(log.results[0]).toMatchObject(entry);
  expect(JSON.stringify(log)).not.toContain('a long story');
});
