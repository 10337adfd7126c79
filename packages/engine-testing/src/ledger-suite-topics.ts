import { TOPIC_OWNERS } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { heldOperation, scope, user } from './builders.ts';
import { ALL, type Bench, OTHER_TENANT, TENANT } from './ledger-bench.ts';

const AGENT = { kind: 'agent', id: 'concierge' } as const;

/** What users of an agent have in common. */
export function describeTopics(bench: () => Bench): void {
  describe('what users of an agent have in common', () => {
    it('is counted by owner, and anew each time', async () => {
      const b = bench();
      await count(b, ['ann', 'bob'], ['food', 'travel']);
      await count(b, ['bob'], ['travel', 'travel']);
      const { topics } = await b.reopened();
      expect(await topics.of(TENANT, AGENT.id)).toEqual([
        { topic: 'food', owners: 1, ownersInAll: 2 },
        { topic: 'travel', owners: 2, ownersInAll: 2 },
      ]);
      expect(await topics.of(OTHER_TENANT, AGENT.id)).toEqual([]);
      expect(await topics.of(TENANT, 'another')).toEqual([]);
    });

    it('is proposed once from twenty owners on, and withdrawn when an erasure leaves fewer', async () => {
      const b = bench();
      const names = Array.from({ length: TOPIC_OWNERS }, (_, i) => `u${i}`);
      await count(b, names.slice(1), ['food']);
      expect(await propose(b, 'rev_1')).toBe(false);
      await count(b, names, ['food']);
      expect([await propose(b, 'rev_1'), await propose(b, 'rev_2')]).toEqual([true, false]);
      const id = b.tools.id('ers');
      const lane = await b.ledger.memories.laneOf(TENANT, user('u3'), b.tools.now());
      await b.ledger.erasures.request(TENANT, user('u3'), { id, ownerHash: 'hash of u3', now: b.tools.now() });
      const [review] = (await b.ledger.reviews.list(TENANT, {}, ALL)).results;
      expect(review).toMatchObject({ id: 'rev_1', state: 'stale', owner: AGENT, settledAt: b.tools.now() });
      const erased = { tenant: TENANT, lane, ownerHash: 'hash of u3' };
      await b.ledger.topics.put(erased, [{ agentId: AGENT.id, topic: 'food' }], b.tools.now());
      expect((await b.ledger.topics.of(TENANT, AGENT.id))[0]?.owners).toBe(TOPIC_OWNERS - 1);
      await count(b, ['another'], ['food']);
      expect(await propose(b, 'rev_3')).toBe(true);
    });

    it('goes with the agent, its proposals too', async () => {
      const b = bench();
      const names = Array.from({ length: TOPIC_OWNERS }, (_, i) => `u${i}`);
      await count(b, names, ['food']);
      await propose(b, 'rev_1');
      const asked = { id: b.tools.id('ers'), ownerHash: 'hash of it', now: b.tools.now() };
      const { id } = await b.ledger.erasures.request(TENANT, AGENT, asked);
      while ((await b.ledger.erasures.slice(id, 1)).more);
      await b.ledger.erasures.forgetOwner(id);
      expect(await b.ledger.topics.of(TENANT, AGENT.id)).toEqual([]);
      expect((await b.ledger.reviews.list(TENANT, {}, ALL)).results).toEqual([]);
    });
  });
}

async function count({ ledger, tools }: Bench, users: readonly string[], topics: readonly string[]): Promise<void> {
  for (const name of users) {
    const lane = await ledger.memories.laneOf(TENANT, user(name), tools.now());
    const rows = [...new Set(topics)].map((topic) => ({ agentId: AGENT.id, topic }));
    await ledger.topics.put({ tenant: TENANT, lane, ownerHash: `hash of ${name}` }, rows, tools.now());
  }
}

async function propose({ ledger, tools }: Bench, id: string): Promise<boolean> {
  const lane = await ledger.memories.laneOf(TENANT, AGENT, tools.now());
  const of = { tenant: TENANT, lane, scope: scope({ userId: null, agentId: AGENT.id }) };
  return ledger.topics.propose(of, heldOperation(tools, { id, memoryId: `mem_${id}`, topic: 'food' }), tools.now());
}
