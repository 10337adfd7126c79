import { expect, it } from 'vitest';
import { ingestBench } from './testing/bench.ts';

const body = { user_id: 'ann', messages: [{ role: 'user', content: 'I live in Oslo' }] };

it('metrics and traces learn of every acknowledgement, with the trace context of the request', async () => {
  const { post, acknowledgements } = await ingestBench();
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const first = await post(body, { 'idempotency-key': 'k', traceparent });
  await post(body, { 'idempotency-key': 'k' });
  const { batch_id: batchId } = first.json();
  expect(acknowledgements).toMatchObject([
    { batchId, repeated: false, traceparent },
    { batchId, repeated: true, traceparent: null },
  ]);
  for (const { startedAt, endedAt } of acknowledgements) expect(endedAt).toBeGreaterThan(startedAt);
  expect(JSON.stringify(acknowledgements)).not.toContain('Oslo');
});

it('a request that is refused is no acknowledgement', async () => {
  const { post, acknowledgements } = await ingestBench();
  expect((await post({ messages: [] })).statusCode).toBe(400);
  expect(acknowledgements).toEqual([]);
});
