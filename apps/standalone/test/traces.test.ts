import { type CollectedSpan, startTraceCollector } from '@slowwave/testkit';
import { expect, test } from 'vitest';
import { post, said } from './client.ts';
import { fourProcesses, type OpenSetup, standalone } from './setups.ts';

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const STEPS = ['gather', 'extract', 'recall', 'decide', 'plan', 'apply', 'project'];

/** Posts one batch and waits until a collector has seen its whole way. */
async function wayOfOneBatch(open: OpenSetup) {
  const collector = await startTraceCollector();
  const setup = await open({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  try {
    const headers = { traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01` };
    const posted = await post(`${setup.ingest}/v1/batches?wait=60000`, said('ann', 'I live in Oslo.'), headers);
    expect(posted.body.state).toBe('consolidated');
    const isThere = (spans: readonly CollectedSpan[], name: string) => spans.some((span) => span.name === name);
    const spans = await collector.until((came) =>
      ['POST /v1/batches', 'consolidate'].every((one) => isThere(came, one)),
    );
    return { id: posted.body.id as string, spans, sent: collector.requests.map(({ body }) => body).join() };
  } finally {
    await setup.close();
    await collector.close();
  }
}

const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan => {
  const found = spans.find((span) => span.name === name);
  if (found === undefined) throw new Error(`expected a span ${name}, got ${spans.map((span) => span.name).join(', ')}`);
  return found;
};

test('the way of a batch is one trace, from POST to project, also across the queue to another process', async () => {
  const { id, spans, sent } = await wayOfOneBatch(fourProcesses);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const posted = named(spans, 'POST /v1/batches');
  const consolidated = named(spans, 'consolidate');
  expect(posted).toMatchObject({ service: 'slowwave-ingest', links: [CALLER] });
  expect(posted).not.toHaveProperty('parentSpanId');
  expect(consolidated).toMatchObject({ service: 'slowwave-worker', parentSpanId: posted.spanId });
  const below = spans.filter(({ parentSpanId }) => parentSpanId === consolidated.spanId);
  expect(below.map(({ name }) => name).filter((name) => !name.startsWith('model '))).toEqual(STEPS);
  expect(below.map(({ name }) => name)).toContain('model extract_facts');
  expect(BigInt(named(spans, 'project').endTimeUnixNano)).toBeGreaterThan(BigInt(posted.startTimeUnixNano));
  expect(posted.attributes).toContainEqual({ key: 'slowwave.batch', value: { stringValue: id } });
  expect(sent, 'nothing that was said, and nobody').not.toMatch(/Oslo|ann"/);
});

test('one process traces the same way', async () => {
  const { spans } = await wayOfOneBatch(standalone);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(['slowwave']));
  expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining(['POST /v1/batches', 'consolidate', ...STEPS]));
});
