import type { HeldOperation, Memory, MemoryChange, NewReceipt, Rating } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, confirmed, deleted, heldOperation, home, rated, retracted, scope, updated, user } from './builders.ts';
import {
  ALL,
  apply,
  type Bench,
  claimedBatch,
  nextTurn,
  OTHER_TENANT,
  SECOND,
  store,
  TENANT,
  write,
} from './ledger-bench.ts';

export function describeFeedback(bench: () => Bench): void {
  describe('ratings of memories', () => {
    it('are events of their memory and marks of its timeline, and change nothing else of it', async () => {
      const b = bench();
      const memory = await remembered(b);
      const change = rated(b.tools, memory, { version: 1, rating: 'negative', reason: 'that was my brother' });
      await write(b, change);
      const later = await b.reopened();
      const found = await later.memories.get(TENANT, memory.id);
      expect(found).toEqual(change.memory);
      expect(found).toMatchObject({ versions: memory.versions, updatedAt: memory.updatedAt, revision: 2 });
      const { results } = await later.memories.history(TENANT, memory.id, ALL);
      expect(results).toEqual([expect.objectContaining({ kind: 'ADD' }), change.events[0]]);
      expect(results[1]).toMatchObject({ rated: { version: 1, rating: 'negative' }, reason: 'that was my brother' });
    });

    it('stand beside what was said under one app, what was changed since and what was taken back', async () => {
      const b = bench();
      const memory = await remembered(b);
      const under = { agentId: null, runId: null, appId: 'shop' };
      const first = rated(b.tools, memory, { version: 1, rating: 'positive', under });
      const second = updated(b.tools, first.memory, { text: 'Lives in Rome' });
      const third = rated(b.tools, second.memory, { version: 3, rating: null });
      const fourth = retracted(b.tools, third.memory, { retracts: [2] });
      for (const change of [first, second, third, fourth]) await write(b, change);
      expect(await b.ledger.memories.get(TENANT, memory.id)).toEqual(fourth.memory);
    });

    it('open a review without a consolidation, and end those of earlier ratings', async () => {
      const b = bench();
      const memory = await remembered(b);
      const first = await rate(b, memory, { rating: 'very_negative', opens: proposed(b, memory, 'rev_1') });
      const waiting = {
        ...{
          id: 'rev_1',
          tenant: TENANT,
          lane: memory.lane,
          owner: user('ann'),
          scope: memory.scope,
          state: 'pending',
        },
        ...{ consolidationId: null, note: null, createdAt: b.tools.now(), settledAt: null },
      };
      expect(await b.ledger.reviews.get(TENANT, 'rev_1')).toMatchObject(waiting);
      expect(await pending(b)).toEqual(['rev_1']);
      const second = await rate(b, first, { rating: 'very_negative', opens: proposed(b, first, 'rev_2') });
      expect(await pending(b)).toEqual(['rev_2']);
      expect(await b.ledger.reviews.get(TENANT, 'rev_1')).toMatchObject({ state: 'stale', note: 'rated again' });
      await rate(b, second, { rating: null });
      expect(await pending(b)).toEqual([]);
      expect(await b.ledger.reviews.get(TENANT, 'rev_2')).toMatchObject({
        ...{ state: 'stale', note: 'the rating was changed or removed', settledAt: b.tools.now() },
      });
    });

    it('end their reviews with the rating or the text, whatever takes it away, and only then', async () => {
      const b = bench();
      const { lane } = await remembered(b);
      const end = async (next: (memory: Memory) => MemoryChange) => {
        const born = added(b.tools, home(lane));
        await write(b, born);
        const { memory } = born;
        const once = await rate(b, memory, { rating: 'very_negative', opens: proposed(b, memory, `rev_${memory.id}`) });
        await write(b, next(once));
        const { state, note } = (await b.ledger.reviews.get(TENANT, `rev_${memory.id}`)) ?? {};
        return [state, note];
      };
      expect(await end((memory) => retracted(b.tools, memory, { retracts: [2] }))).toEqual([
        ...['stale', 'the rating was changed or removed'],
      ]);
      expect(await end((memory) => updated(b.tools, memory, { text: 'Lives in Rome' }))).toEqual([
        ...['stale', 'the memory has changed since it was rated'],
      ]);
      expect(await end((memory) => deleted(b.tools, memory))).toEqual([
        ...['stale', 'the memory it would delete no longer exists'],
      ]);
      expect(await end((memory) => confirmed(b.tools, memory))).toEqual(['pending', null]);
    });

    it('leave the reviews of plans, of other memories and of what was decided as they are', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const change = added(b.tools, home(turn.lane));
      const { memory } = change;
      const planned = heldOperation(b.tools, { id: 'rev_plan', kind: 'UPDATE', memoryId: memory.id });
      await apply(b, turn, { changes: [change], reviews: [planned] });
      const other = added(b.tools, home(turn.lane));
      await write(b, other);
      await rate(b, other.memory, { rating: 'very_negative', opens: proposed(b, other.memory, 'rev_other') });
      const once = await rate(b, memory, { rating: 'very_negative', opens: proposed(b, memory, 'rev_1') });
      await b.ledger.reviews.settle(TENANT, 'rev_1', { state: 'rejected', now: b.tools.now() });
      await rate(b, once, { rating: 'positive' });
      expect((await pending(b)).sort()).toEqual(['rev_other', 'rev_plan']);
      expect(await b.ledger.reviews.get(TENANT, 'rev_1')).toMatchObject({ state: 'rejected', note: null });
    });

    it('open nothing where another change came first', async () => {
      const b = bench();
      const memory = await remembered(b);
      await write(b, updated(b.tools, memory, { text: 'Lives in Rome' }));
      const change = rated(b.tools, memory, { version: 1, rating: 'very_negative' });
      const opens = proposed(b, memory, 'rev_1');
      const proposal = { memoryId: memory.id, opens, note: 'rated otherwise' };
      const given = { changes: [change], tombstones: [], proposal, now: b.tools.now() };
      expect(await b.ledger.memories.write(TENANT, given)).toMatchObject({ kind: 'conflict' });
      expect(await b.ledger.memories.write(OTHER_TENANT, given)).toMatchObject({ kind: 'conflict' });
      expect(await pending(b)).toEqual([]);
    });

    it('are erased with their reasons and proposals, and those of others are not', async () => {
      const b = bench();
      const memory = await remembered(b);
      await rate(b, memory, { rating: 'very_negative', opens: proposed(b, memory, 'rev_1') });
      await store(b, { scope: scope({ userId: 'bob' }) });
      const bobs = added(
        b.tools,
        home((await nextTurn(b, { owner: user('bob') })).lane, { scope: scope({ userId: 'bob' }) }),
      );
      await write(b, bobs);
      await rate(b, bobs.memory, { rating: 'very_negative', opens: proposed(b, bobs.memory, 'rev_bob') });
      const { erasures } = b.ledger;
      await erasures.request(TENANT, user('ann'), { id: 'ers_1', ownerHash: 'hash', now: b.tools.now() });
      expect(await b.ledger.reviews.get(TENANT, 'rev_1')).toBeNull();
      while ((await erasures.slice('ers_1', 10)).more);
      await erasures.forgetOwner('ers_1');
      expect((await erasures.get(TENANT, 'ers_1'))?.state).toBe('compacting');
      expect(await pending(b)).toEqual(['rev_bob']);
    });
  });

  describe('the outcomes of answers', () => {
    it('have what they credit projected, once', async () => {
      const b = bench();
      const memory = await remembered(b);
      await cleared(b, memory, []);
      await b.ledger.receipts.append([receipt(b, memory)]);
      b.tools.advance(SECOND);
      const judge = () => b.ledger.receipts.judge(TENANT, 'rcp_1', { outcome: 'good', now: b.tools.now() });
      await judge();
      expect((await b.ledger.outbox.pending(10)).map(({ memoryId }) => memoryId)).toEqual([memory.id]);
      const credit = { memoryId: memory.id, version: 1, good: 1_000, bad: 0, at: b.tools.now() };
      expect(await b.ledger.receipts.credits([memory.id])).toEqual([credit]);
      b.tools.advance(SECOND);
      await judge();
      expect(await b.ledger.receipts.credits([memory.id])).toEqual([credit]);
      expect(await b.ledger.outbox.pending(10)).toHaveLength(1);
    });

    it('keep what was made without them from being cleared as projected', async () => {
      const b = bench();
      const memory = await remembered(b);
      await b.ledger.receipts.append([receipt(b, memory)]);
      await b.ledger.receipts.judge(TENANT, 'rcp_1', { outcome: 'bad', now: b.tools.now() });
      expect(await cleared(b, memory, [])).toBeNull();
      expect(await b.ledger.outbox.pending(10)).toHaveLength(2);
      const credits = [{ memoryId: memory.id, version: 1, good: 0, bad: 1_000 }];
      expect(await cleared(b, memory, credits)).not.toBeNull();
      expect(await b.ledger.outbox.pending(10)).toEqual([]);
    });
  });
}

async function remembered(b: Bench): Promise<Memory> {
  const { lane } = (await claimedBatch(b)).turn;
  const change = added(b.tools, home(lane));
  await write(b, change);
  return change.memory;
}

const proposed = (b: Bench, memory: Memory, id: string): HeldOperation => ({
  ...heldOperation(b.tools, { id, kind: 'DELETE', memoryId: memory.id, after: null, details: null, forgets: true }),
  ...{ fact: null, factText: null, decidedBy: 'feedback', rated: 1 },
});

interface GivenRating {
  readonly rating: Rating | null;
  readonly opens?: HeldOperation;
}

async function rate(b: Bench, memory: Memory, { rating, opens }: GivenRating): Promise<Memory> {
  const change = rated(b.tools, memory, { version: 1, rating });
  const proposal = opens && { memoryId: memory.id, opens, note: 'rated again' };
  const given = { changes: [change], tombstones: [], proposal, now: b.tools.now() };
  expect(await b.ledger.memories.write(TENANT, given)).toEqual({ kind: 'written' });
  return change.memory;
}

const pending = async ({ ledger }: Bench): Promise<string[]> =>
  (await ledger.reviews.list(TENANT, { state: 'pending' }, ALL)).results.map(({ id }) => id);

const receipt = (b: Bench, { id, lane }: Memory): NewReceipt => ({
  ...{ id: 'rcp_1', tenant: TENANT, lane, at: b.tools.now(), route: 'search', scope: scope(), ownApp: false },
  ...{ question: null, filters: null, asOf: null, position: 0, told: [{ kind: 'memory', id, version: 1 }] },
});

type Credits = NonNullable<Parameters<Bench['ledger']['outbox']['clear']>[0]['from']>['credits'];

/** All that is to be projected of a memory, which was made with these credits. */
async function cleared(b: Bench, { id, lane }: Memory, credits: Credits) {
  const seqs = (await b.ledger.outbox.ofMemories([id])).map(({ seq }) => seq);
  const from = { lane, messageIds: [], saying: 0, memoryIds: [id], credits };
  return b.ledger.outbox.clear({ seqs, batches: [], from }, b.tools.now());
}
