import { added, createMemoryLedger, details, fixedTools, home, updated } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { EngineError } from './errors.ts';
import type { Batch } from './ports/ledger/lanes.ts';
import { batchNotice, claimDeliveries, deliver, memoryNotices, type WebhookPost } from './webhooks.ts';
import { DEFAULT_TENANT, type LaneId } from './words.ts';

const HOUR_MS = 3_600_000;

/** One memory to be told to one webhook, whose receiver answers as it is told. */
async function bench(answer: { status: number } | { error: Error }) {
  const tools = fixedTools();
  const ledger = createMemoryLedger({ tools });
  const posts: WebhookPost[] = [];
  const post = async (sent: WebhookPost) => {
    posts.push(sent);
    if ('error' in answer) throw answer.error;
    return answer;
  };
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  await ledger.webhooks.create(
    {
      ...{ id: 'whk_1', tenant: DEFAULT_TENANT, name: '', url: 'https://receiver/', events: ['memory.added'] },
      ...{ userId: null, appId: null, active: true, secret: 'one', createdAt: tools.now() },
    },
    1,
  );
  const owner = { kind: 'user', id: 'ann' } as const;
  const lane = await ledger.memories.laneOf(DEFAULT_TENANT, owner, tools.now());
  const change = added(tools, home(lane));
  await ledger.memories.write(DEFAULT_TENANT, { changes: [change], tombstones: [], now: tools.now() });
  const deps = { ledger, tools, log, sender: { post } };
  const tryOnce = async () => {
    const claimed = await claimDeliveries(deps, 10);
    return Promise.all(claimed.map((one) => deliver(deps, one)));
  };
  const webhook = () => ledger.webhooks.get(DEFAULT_TENANT, 'whk_1');
  return { tools, ledger, posts, tryOnce, webhook };
}

test('2xx is a delivery, and it is over', async () => {
  const { tools, posts, tryOnce } = await bench({ status: 204 });
  expect(await tryOnce()).toMatchObject([{ kind: 'delivered', status: 204 }]);
  tools.advance(HOUR_MS);
  expect(await tryOnce()).toEqual([]);
  expect(posts).toMatchObject([{ url: 'https://receiver/', secrets: ['one'] }]);
});

test.each([{ status: 500 }, { status: 302 }, { error: new Error('away') }])(
  'after %s it will be retried with growing pauses for about a day, and then it has failed',
  async (answer) => {
    const { tools, ledger, posts, tryOnce } = await bench(answer);
    const begun = tools.now();
    const pauses: number[] = [];
    let last = begun;
    for (let tries = 0; tries < 100; tries += 1) {
      const [attempted] = await tryOnce();
      if (attempted?.kind !== 'failed') throw new Error('expected a failed attempt');
      if (attempted.retryAt === null) break;
      pauses.push(attempted.retryAt - last);
      tools.set(attempted.retryAt);
      last = attempted.retryAt;
    }
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect((last - begun) / HOUR_MS).toBeGreaterThan(23);
    expect((last - begun) / HOUR_MS).toBeLessThan(30);
    expect(new Set(posts.map(({ deliveryId }) => deliveryId)).size).toBe(1);
    expect(await ledger.webhooks.backlog()).toMatchObject({ waiting: 0, failed: 1 });
  },
);

test('a URL that is refused fails at once', async () => {
  const error = new EngineError('refused', { code: 'unsupported_content', retryable: false });
  const { tryOnce } = await bench({ error });
  expect(await tryOnce()).toMatchObject([{ kind: 'failed', retryAt: null, error: 'refused' }]);
});

test('a webhook that has taken nothing for three days is paused, and a replaced secret signs for its time', async () => {
  const { tools, ledger, posts, tryOnce, webhook } = await bench({ status: 500 });
  await tryOnce();
  const until = tools.now() + 100 * HOUR_MS;
  await ledger.webhooks.change(DEFAULT_TENANT, 'whk_1', { secret: 'two', previous: { secret: 'one', until } }, 0);
  tools.advance(73 * HOUR_MS);
  expect(await tryOnce()).toMatchObject([{ kind: 'failed', pause: true }]);
  expect(posts.at(-1)?.secrets).toEqual(['two', 'one']);
  expect(await webhook()).toMatchObject({ active: false, pausedAt: tools.now() });
  tools.advance(73 * HOUR_MS);
  expect(await tryOnce()).toEqual([]);
  await ledger.webhooks.change(DEFAULT_TENANT, 'whk_1', { active: true }, tools.now());
  await tryOnce();
  expect(posts.at(-1)?.secrets).toEqual(['two']);
});

test('a receiver is told why a batch is parked, and no place of it, however long ago that was kept', () => {
  const failure = { code: 'model_unreachable', message: 'connect ECONNREFUSED 10.0.0.7:8080', at: 0 };
  const scope = { userId: 'ann', agentId: null, runId: null, appId: null };
  const parked = { id: 'bat_1', lane: 'lane_1', state: 'parked', attempts: 3, consolidationId: null, scope, failure };
  const { body } = batchNotice(parked as unknown as Batch, 1);
  expect(JSON.parse(body).data.error).toEqual({
    code: 'model_unreachable',
    message: 'connect ECONNREFUSED [address]',
  });
});

test('what a night notes of a memory that reads as before is no change of the memory', () => {
  const tools = fixedTools();
  const memory = added(tools, home('lane_1' as LaneId), { text: 'Lives in Oslo' }).memory;
  const change = (given: Parameters<typeof updated>[2]) => memoryNotices([updated(tools, memory, given)]);
  const placed = details({ placed: { slot: 'home', by: 'night' } });
  expect(change({ text: 'Lives in Oslo', actor: 'sleep', details: placed })).toEqual([]);
  expect(change({ text: 'Lives in Oslo', actor: 'api', details: placed })).toHaveLength(1);
  expect(change({ text: 'Lived in Oslo', actor: 'sleep' })).toHaveLength(1);
});
