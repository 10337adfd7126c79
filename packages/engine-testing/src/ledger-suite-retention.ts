import { DEFAULT_SETTINGS, evolve, NOT_KEPT, REMOVED, tombstoneOf, withoutFormer } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, deleted, home, newMessage, newPlan, storedAnswer, updated } from './builders.ts';
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
      expect(source?.message).toMatchObject({ content: NOT_KEPT, name: null, clientId: 'm-1', role: 'user' });
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

    it('comes back to what had not come to its end when all that is as old was emptied', async () => {
      const b = bench();
      const { batch: ended } = await consolidated();
      b.tools.advance(SECOND);
      const open = await claimedBatch(b);
      b.tools.advance(SECOND);
      const before = b.tools.now();
      const { retention } = b.ledger;
      expect([
        await retention.removeMessages(TENANT, before, how()),
        await retention.removePlans(TENANT, before, how()),
      ]).toEqual([1, 1]);
      expect(await retention.withoutMessages(TENANT, [open.batch.id, ended.id])).toEqual([ended.id]);
      await apply(b, open.turn);
      await project(b);
      expect([await retention.countMessages(TENANT, before), await retention.countPlans(TENANT, before)]).toEqual([
        1, 1,
      ]);
      expect(await retention.countMessages(TENANT, open.batch.acceptedAt)).toBe(0);
      expect([
        await retention.removeMessages(TENANT, before, how()),
        await retention.removePlans(TENANT, before, how()),
      ]).toEqual([1, 1]);
      expect(await retention.withoutMessages(TENANT, [open.batch.id])).toEqual([open.batch.id]);
      expect([await retention.countMessages(TENANT, before), await retention.countPlans(TENANT, before)]).toEqual([
        0, 0,
      ]);
    });

    it('finds memories with a past, and empties it: the same versions, and nothing of what they said', async () => {
      const b = bench();
      const { turn, memoryId } = await consolidated();
      const { retention, memories, thoughts, undos } = b.ledger;
      const due = () => retention.histories(TENANT, b.tools.now(), { after: null, limit: 10 });
      expect(await due()).toEqual([]);
      b.tools.advance(SECOND);
      const first = expectThere(await memories.get(TENANT, memoryId));
      const changes = [updated(b.tools, first, { text: 'Lives in Rome' })];
      await memories.write(TENANT, { changes, tombstones: [], now: b.tools.now() });
      const [from] = changes.flatMap(({ events }) => events);
      b.tools.advance(SECOND);
      expect(await due()).toEqual([{ memoryId, from: from?.recordedAt }]);
      expect(await retention.histories(OTHER_TENANT, b.tools.now(), { after: null, limit: 10 })).toEqual([]);
      const [place = null] = await due();
      expect(await retention.histories(TENANT, b.tools.now(), { after: place, limit: 10 })).toEqual([]);
      await project(b);

      const memory = expectThere(await memories.get(TENANT, memoryId));
      const events = await undos.events(TENANT, [memoryId]);
      const emptied = expectThere(withoutFormer(b.tools, { memory, events }, b.tools.now()));
      const vectors = new Map([['90e0', Float32Array.of(1)]]);
      await thoughts.storeVectors(turn.lane, 'v', vectors);
      const removal = { ...emptied, textHashes: ['90e0'] };
      expect(await retention.removeHistories(OTHER_TENANT, [removal])).toBe(0);
      expect(await retention.removeHistories(TENANT, [removal])).toBe(1);
      const reopened = await b.reopened();
      expect(await reopened.memories.get(TENANT, memoryId)).toEqual(emptied.memory);
      const left = await reopened.undos.events(TENANT, [memoryId]);
      expect(evolve(memory, null, left)).toEqual(emptied.memory);
      expect(JSON.stringify(left)).not.toContain('Berlin');
      expect(await reopened.retention.histories(TENANT, b.tools.now(), { after: null, limit: 10 })).toEqual([]);
      expect((await reopened.thoughts.vectors(turn.lane, 'v', ['90e0'])).size).toBe(0);
      expect((await reopened.outbox.ofMemories([memoryId])).length).toBe(1);
      expect(await reopened.overview.memories(TENANT)).toEqual({ live: 1, versions: 1 });
    });

    it('keeps by what a deletion blocks whose text is gone', async () => {
      const b = bench();
      const { memoryId } = await consolidated();
      const { retention, memories, undos } = b.ledger;
      const change = deleted(b.tools, expectThere(await memories.get(TENANT, memoryId)));
      const tombstones = change.events.flatMap((event) => tombstoneOf(b.tools, event));
      await memories.write(TENANT, { changes: [change], tombstones, now: b.tools.now() });
      b.tools.advance(SECOND);
      const life = { memory: change.memory, events: await undos.events(TENANT, [memoryId]) };
      const emptied = expectThere(withoutFormer(b.tools, life, b.tools.now()));
      expect(await retention.removeHistories(TENANT, [{ ...emptied, textHashes: [] }])).toBe(1);
      const events = await undos.events(TENANT, [memoryId]);
      expect(events.at(-1)).toMatchObject({ kind: 'DELETE', previous: REMOVED, reason: REMOVED });
      expect(events.flatMap((event) => tombstoneOf(b.tools, event))).toEqual(tombstones);
      expect(await b.ledger.overview.memories(TENANT)).toEqual({ live: 0, versions: 0 });
    });

    it('leaves a memory alone that was changed meanwhile', async () => {
      const b = bench();
      const { memoryId } = await consolidated();
      const { retention, memories } = b.ledger;
      const before = expectThere(await memories.get(TENANT, memoryId));
      const change = updated(b.tools, before, { text: 'Lives in Rome' });
      await memories.write(TENANT, { changes: [change], tombstones: [], now: b.tools.now() });
      expect(await retention.removeHistories(TENANT, [{ memory: before, events: [], textHashes: [] }])).toBe(0);
      expect(await memories.get(TENANT, memoryId)).toEqual(change.memory);
    });

    it('knows whose messages are removed', async () => {
      const b = bench();
      const { batch } = await consolidated();
      b.tools.advance(SECOND);
      const { retention } = b.ledger;
      expect(await retention.withoutMessages(TENANT, [batch.id, 'bat_unknown'])).toEqual([]);
      await retention.removeMessages(TENANT, b.tools.now(), how());
      expect(await retention.withoutMessages(TENANT, [batch.id, 'bat_unknown'])).toEqual([batch.id]);
      expect(await retention.withoutMessages(OTHER_TENANT, [batch.id])).toEqual([]);
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
