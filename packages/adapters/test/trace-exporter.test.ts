import { recordingLog } from '@slowwave/engine-testing';
import { startTraceCollector, type TraceCollector } from '@slowwave/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { openExporter, type SpanExporter } from '../src/traces.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

const span = (name: string): Parameters<SpanExporter['add']>[0] => ({
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  parentId: null,
  name,
  kind: 'internal',
  startedAt: 1,
  endedAt: 2,
  attributes: { count: 3, id: 'bat_1' },
  links: [],
  failed: true,
});

async function bench(answer?: (nth: number) => number) {
  const collector: TraceCollector = await startTraceCollector(answer);
  const log = recordingLog();
  const given = { endpoint: `${collector.url}/`, headers: { 'x-key': 'k' }, service: 'slowwave-test', log };
  const exporter = openExporter(given);
  opened.push(exporter, collector);
  return { collector, exporter, log };
}

describe('spans are sent', () => {
  it('together, a moment after they ended, to the path of the protocol with the headers that were set', async () => {
    const { collector, exporter } = await bench();
    for (const name of ['one', 'two']) exporter.add(span(name));
    const spans = await collector.until((came) => came.length === 2);
    expect(collector.requests).toHaveLength(1);
    expect(collector.requests[0]).toMatchObject({ path: '/v1/traces', headers: { 'x-key': 'k' } });
    expect(spans[0]).toMatchObject({ service: 'slowwave-test', name: 'one', kind: 1, status: { code: 2 } });
    expect(spans[0]?.attributes).toEqual([
      { key: 'count', value: { intValue: '3' } },
      { key: 'id', value: { stringValue: 'bat_1' } },
    ]);
  });

  it('again to a collector that was busy, and the trouble is told once', async () => {
    const { collector, exporter, log } = await bench((nth) => (nth < 3 ? 503 : 200));
    exporter.add(span('one'));
    await collector.until((came) => came.length === 1);
    expect(log.lines.map(({ message }) => message)).toEqual(['could not send traces; work continues without them']);
  });

  it('not again to one that does not want them', async () => {
    const { collector, exporter } = await bench((nth) => (nth === 1 ? 400 : 200));
    exporter.add(span('refused'));
    await expect.poll(() => collector.requests.length).toBe(1);
    exporter.add(span('taken'));
    const spans = await collector.until((came) => came.length === 1);
    expect(spans.map(({ name }) => name)).toEqual(['taken']);
  });

  it('before the program ends, in portions', async () => {
    const { collector, exporter } = await bench();
    for (let i = 0; i < 600; i += 1) exporter.add(span(String(i)));
    await exporter.close();
    expect(collector.spans().map(({ name }) => name)).toEqual(Array.from({ length: 600 }, (_, i) => String(i)));
    expect(collector.requests).toHaveLength(2);
  });
});

it('a collector that is not there stops nobody', async () => {
  const { collector, exporter, log } = await bench();
  await collector.close();
  opened.splice(opened.indexOf(collector), 1);
  for (let i = 0; i < 10_000; i += 1) exporter.add(span('lost'));
  await exporter.close();
  expect(log.lines).toHaveLength(1);
});
