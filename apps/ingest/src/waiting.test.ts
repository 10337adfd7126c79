import { expect, test } from 'vitest';
import { ingestBench } from './testing/bench.ts';

const hello = { user_id: 'ann', messages: [{ role: 'user', content: 'I moved to Berlin.' }] };
/** Requests of a key that may wait at once. */
const PLACES = 500;
const LONG = 'wait=60000';
/** What is injected is sent once somebody asks for its answer. */
const same = <T>(answer: T): T => answer;

/** A bench at which every place is taken. */
async function crowded() {
  const bench = await ingestBench();
  const { app, post, engine } = bench;
  const { batch_id: id } = (await post(hello)).json();
  const waiting = Array.from({ length: PLACES }, () => app.inject(`/v1/batches/${id}?${LONG}`).then(same));
  const asked = (): Promise<number> => app.inject(`/v1/batches/${id}?wait=1`).then(({ statusCode }) => statusCode);
  await expect.poll(asked).toBe(429);
  const stored = (): Promise<number> => engine.deps.ledger.overview.backlog(null, PLACES);
  return { ...bench, waiting, stored };
}

test('a batch that would be one too many to wait for is refused before it is stored', async () => {
  const { app, waiting, stored } = await crowded();
  const answer = await app.inject({ method: 'POST', url: `/v1/batches?${LONG}`, payload: hello });
  expect(answer.json()).toMatchObject({ status: 429, code: 'too_many_requests' });
  expect(answer.headers['retry-after']).toBe('1');
  expect(await stored()).toBe(1);
  await app.close();
  await Promise.all(waiting);
});

test('a batch that nobody waits for is stored while every place is taken', async () => {
  const { app, post, waiting, stored } = await crowded();
  expect((await post(hello)).statusCode).toBe(202);
  expect(await stored()).toBe(2);
  await app.close();
  await Promise.all(waiting);
});

test('a batch that was refused or answered leaves its place to the next', async () => {
  const { app } = await ingestBench();
  const url = '/v1/batches?wait=1';
  for (let i = 0; i < PLACES + 1; i += 1) {
    const headers = { 'idempotency-key': 'once' };
    const payload = i === 0 ? hello : { ...hello, mode: 'verbatim' };
    const answer = await app.inject({ method: 'POST', url, payload, headers });
    expect(answer.statusCode, `the ${i + 1}th`).toBe(i === 0 ? 202 : 409);
  }
  await app.close();
});
