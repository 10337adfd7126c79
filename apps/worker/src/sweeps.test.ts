import { DEFAULT_TENANT } from '@slowwave/engine';
import { added, createMemoryLedger, fixedTools, home, recordingLog } from '@slowwave/engine-testing';
import { expect, test, vi } from 'vitest';
import { repeat, webhookDeliveries } from './sweeps.ts';

const MANY = 30;

test('a receiver that never answers holds four places, and nobody else up', async () => {
  const tools = fixedTools();
  const ledger = createMemoryLedger({ tools });
  const urls = ['https://slow/', 'https://quick/'];
  for (const url of urls) {
    const rest = { tenant: DEFAULT_TENANT, name: '', events: ['memory.added'] as const, userId: null, appId: null };
    await ledger.webhooks.create({ ...rest, id: url, url, active: true, secret: 'one', createdAt: tools.now() }, 2);
  }
  const lane = await ledger.memories.laneOf(DEFAULT_TENANT, { kind: 'user', id: 'ann' }, tools.now());
  for (let i = 0; i < MANY; i += 1) {
    const changes = [added(tools, home(lane), { text: `thing ${i}` })];
    await ledger.memories.write(DEFAULT_TENANT, { changes, tombstones: [], now: tools.now() });
  }
  const asked: string[] = [];
  const answering: (() => void)[] = [];
  const post = ({ url }: { url: string }): Promise<{ status: number }> => {
    asked.push(url);
    if (url !== urls[0]) return Promise.resolve({ status: 204 });
    return new Promise((resolve) => answering.push(() => resolve({ status: 204 })));
  };
  const stopping = new AbortController();
  const given = {
    ledger,
    tools,
    log: recordingLog(),
    sender: { post },
    attempted: () => {},
    stopping: stopping.signal,
  };
  const deliveries = webhookDeliveries(given);
  const sweeping = deliveries.sweep();
  await vi.waitFor(() => expect(asked.filter((url) => url === urls[1])).toHaveLength(MANY), { timeout: 50_000 });
  expect(asked.filter((url) => url === urls[0])).toHaveLength(4);
  stopping.abort();
  for (const answer of answering) answer();
  await sweeping;
  await deliveries.close();
});

test('a sweep that goes on failing in the same way is logged once, another failure too, and that it works again', async () => {
  const log = recordingLog();
  const stopping = new AbortController();
  const ends = ['away', 'away', 'locked', null, null];
  let runs = 0;
  const sweep = async (): Promise<void> => {
    const end = ends[runs];
    runs += 1;
    if (runs === ends.length) stopping.abort();
    if (end !== null) throw new Error(end);
  };
  await repeat({ log }, stopping.signal, ['lanes', sweep]);
  expect(log.lines.map(({ level, fields }) => [level, fields])).toEqual([
    ['warn', { sweep: 'lanes', error: 'Error: away' }],
    ['warn', { sweep: 'lanes', error: 'Error: locked' }],
    ['info', { sweep: 'lanes' }],
  ]);
});
