import { expectTrue, fakeChat, type NightBench, nightBench } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { requestErasure } from '../erasure/request.ts';
import { reviewer } from '../memories/review.ts';
import { memoryWriter } from '../memories/write.ts';
import type { SleepSettings } from '../settings.ts';
import { DEFAULT_TENANT, type Memory } from '../words.ts';

const TENANT = DEFAULT_TENANT;
const ALL = { limit: 100, cursor: null };
const LEAST = 20;

const bench = (sleep: Partial<SleepSettings> = {}): Promise<NightBench> =>
  nightBench({ chat: fakeChat({}) }, { agents: true, ...sleep });

/** Each user tells the agent something of their own. */
async function tell(night: NightBench, users: readonly string[], category = 'travel') {
  const none = { metadata: {}, immutable: false, expiresAt: null, validFrom: null };
  for (const userId of users) {
    const scope = { userId, agentId: 'concierge', runId: null, appId: null };
    await memoryWriter(night.deps).add(TENANT, { ...none, scope, category, text: `${userId} wants to see Lisbon` });
  }
}

const users = (count: number, from = 0): string[] => Array.from({ length: count }, (_, i) => `user${from + i}`);

/** Owners of a tenant have their nights twenty at a time. */
async function nights(night: NightBench): Promise<void> {
  for (let i = 0; i < 4; i += 1) await night.night();
}

async function reviews({ deps }: NightBench) {
  const { results } = await deps.ledger.reviews.list(TENANT, {}, ALL);
  return results.map(({ owner, state, note, operation }) => ({ owner: owner.id, state, note, says: operation.after }));
}

const PROPOSED = { owner: 'concierge', state: 'pending', note: null, says: 'Most users talk about travel' };

test('what most of at least twenty users of an agent talk about is proposed to a person, once, without a word of theirs', async () => {
  const night = await bench();
  await tell(night, users(LEAST - 1));
  await tell(night, users(5), 'food');
  await nights(night);
  expect(await reviews(night)).toEqual([]);
  await tell(night, users(1, LEAST));
  await nights(night);
  expect(await reviews(night)).toEqual([PROPOSED]);
  const { results } = await night.deps.ledger.reviews.list(TENANT, {}, ALL);
  expect(JSON.stringify(results)).not.toMatch(/user\d|Lisbon/u);
  await tell(night, users(3, 50));
  await nights(night);
  expect(await reviews(night)).toHaveLength(1);
});

test('is off unless the settings allow it, and nothing is counted then', async () => {
  const night = await bench({ agents: false });
  await tell(night, users(LEAST + 2));
  await nights(night);
  expect([await reviews(night), await night.deps.ledger.topics.of(TENANT, 'concierge')]).toEqual([[], []]);
});

test('approved, it is a memory of the agent; rejected, it does not come again', async () => {
  const night = await bench();
  await tell(night, users(LEAST + 1));
  await tell(night, users(LEAST + 1), 'food');
  await nights(night);
  const { results } = await night.deps.ledger.reviews.list(TENANT, {}, ALL);
  const [food, travel] = results.toSorted((a, b) => ((a.operation.after ?? '') < (b.operation.after ?? '') ? -1 : 1));
  expect(await reviewer(night.deps).reject(TENANT, food?.id ?? '')).toMatchObject({ kind: 'settled' });
  expect(await reviewer(night.deps).approve(TENANT, travel?.id ?? '')).toMatchObject({ kind: 'settled' });
  const ofAgent = async (): Promise<readonly Memory[]> =>
    (await night.deps.ledger.memories.every(null, 1_000)).filter(({ owner }) => owner.kind === 'agent');
  expect((await ofAgent()).map(({ versions: [version] }) => version?.text)).toEqual([PROPOSED.says]);
  await tell(night, users(5, 50), 'food');
  await nights(night);
  expect((await reviews(night)).map(({ state }) => state).sort()).toEqual(['approved', 'rejected']);
  await expectTrue(night.deps.ledger);
});

test('an erasure lowers the count, and withdraws what fewer than twenty users are left for', async () => {
  const night = await bench();
  await tell(night, users(LEAST + 1));
  await nights(night);
  const erase = (id: string) => requestErasure(night.deps, TENANT, { kind: 'user', id });
  await erase('user0');
  expect(await reviews(night)).toEqual([PROPOSED]);
  await erase('user1');
  const [withdrawn] = await reviews(night);
  expect(withdrawn).toMatchObject({ state: 'stale', note: 'fewer than 20 users are left to whom this applies' });
  await tell(night, users(1, 50));
  await nights(night);
  expect((await reviews(night)).map(({ state }) => state).sort()).toEqual(['pending', 'stale']);
});

test('who forgets what they told counts no more', async () => {
  const night = await bench();
  await tell(night, users(LEAST));
  await nights(night);
  const [memory] = (await night.deps.ledger.memories.every(null, 1_000)).filter(({ owner }) => owner.id === 'user3');
  await memoryWriter(night.deps).remove(TENANT, memory?.id ?? '');
  await nights(night);
  expect((await reviews(night)).map(({ state }) => state)).toEqual(['stale']);
});
