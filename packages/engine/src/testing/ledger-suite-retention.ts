import { describe, expect, it } from 'vitest';
import { REMOVED } from '../ports/ledger/retention.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { added, home, newMessage, newPlan, storedAnswer } from './builders.ts';
import {
  apply,
  type Bench,
  batchOf,
  claimedBatch,
  expectThere,
  fail,
  laneOf,
  OTHER_TENANT,
  project,
  SECOND,
  store,
  TENANT,
} from './ledger-bench.ts';

/** What is removed after its time, and what never is. */
export function describeRetention(bench: () => Bench): void {
  describe('retention', () => {
    const how = (limit = 10) => ({ limit, now: bench().tools.now() });

    /** A batch that is consolidated, with a memory, an answer and a plan. */
    const consolidated = async () => {
      const b = bench();
      const messages = [newMessage(b.tools, { content: 'I live in Oslo', name: 'Ann', clientId: 'm-1' })];
      const { batch, turn } = await claimedBatch(b, { messages, metadata: { from: 'app' } });
      await b.ledger.thoughts.storeAnswer(turn, storedAnswer(b.tools));
      await b.ledger.thoughts.storePlan(turn, newPlan(turn));
      const sourceIds = messages.map(({ id }) => id);
      const change = added(b.tools, home(turn.lane), { sourceIds });
      await apply(b, turn, { changes: [change] });
      await project(b);
      return { batch, turn, memoryId: change.memory.id };
    };

    it('removes the content of messages, and leaves who said something when', async () => {
      const b = bench();
      const { batch, memoryId } = await consolidated();
      expect(await b.ledger.retention.countMessages(TENANT, batch.acceptedAt)).toBe(0);
      b.tools.advance(SECOND);
      expect(await b.ledger.retention.countMessages(OTHER_TENANT, b.tools.now())).toBe(0);
      const before = b.tools.now();
      expect(await b.ledger.retention.countMessages(TENANT, before)).toBe(1);
      expect(await b.ledger.retention.removeMessages(TENANT, before, how())).toBe(1);
      const [source] = await b.ledger.memories.sources(TENANT, memoryId, { before: 0, after: 0 });
      expect(source?.message).toMatchObject({ content: REMOVED, name: null, clientId: 'm-1', role: 'user' });
      expect(await batchOf(b, batch.id)).toMatchObject({ state: 'consolidated', metadata: {}, messageCount: 1 });
      expect(await b.ledger.retention.countMessages(TENANT, before)).toBe(0);
      expect(await b.ledger.retention.removeMessages(TENANT, before, how())).toBe(0);
    });

    it('removes plans and answers, and says when it did', async () => {
      const b = bench();
      const { turn } = await consolidated();
      b.tools.advance(SECOND);
      const id = turn.consolidationId;
      expect(expectThere(await b.ledger.thoughts.get(TENANT, id)).removedAt).toBeUndefined();
      expect(await b.ledger.retention.countPlans(TENANT, b.tools.now())).toBe(1);
      expect(await b.ledger.retention.removePlans(TENANT, b.tools.now(), how())).toBe(1);
      expect(await b.ledger.thoughts.plan(id)).toBeNull();
      expect(await b.ledger.thoughts.answers(id)).toEqual([]);
      expect(await b.ledger.thoughts.get(TENANT, id)).toMatchObject({ state: 'applied', removedAt: b.tools.now() });
      expect(await b.ledger.retention.countPlans(TENANT, b.tools.now())).toBe(0);
    });

    it('never touches what waits, is worked on or parked, nor what is young or of another tenant', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await fail(b, turn, { retryable: false });
      await claimedBatch(b);
      await store(b);
      b.tools.advance(SECOND);
      const old = b.tools.now();
      for (const tenant of [TENANT, OTHER_TENANT]) {
        expect(await b.ledger.retention.removeMessages(tenant, old, how())).toBe(0);
        expect(await b.ledger.retention.removePlans(tenant, old, how())).toBe(0);
      }
    });

    it('knows who has chosen anything, and their lanes', async () => {
      const b = bench();
      expect(await b.ledger.retention.tenants()).toEqual([]);
      await b.ledger.settings.put(TENANT, DEFAULT_SETTINGS);
      expect(await b.ledger.retention.tenants()).toEqual([TENANT]);
      await store(b);
      const { id } = await laneOf(b);
      expect(await b.ledger.retention.lanes(TENANT, null, 10)).toEqual([id]);
      expect(await b.ledger.retention.lanes(TENANT, id, 10)).toEqual([]);
      expect(await b.ledger.retention.lanes(OTHER_TENANT, null, 10)).toEqual([]);
    });
  });
}
