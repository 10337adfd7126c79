import { describe, expect, it } from 'vitest';
import { added, home, newBatch, scope, updated, user } from './builders.ts';
import {
  ALL,
  ANN,
  append,
  apply,
  type Bench,
  fail,
  laneOf,
  nextTurn,
  OTHER_TENANT,
  project,
  replay,
  store,
  TENANT,
} from './ledger-bench.ts';

export function describeTenants(bench: () => Bench): void {
  describe('a tenant', () => {
    it('has lanes of its own for owners of the same name', async () => {
      const b = bench();
      await store(b);
      await store(b, { tenant: OTHER_TENANT });
      const [mine, theirs] = [await laneOf(b), await laneOf(b, ANN, OTHER_TENANT)];
      expect(mine.id).not.toBe(theirs.id);
      expect([mine.pending, theirs.pending]).toEqual([1, 1]);
      expect((await b.ledger.lanes.flush(OTHER_TENANT, ANN, b.tools.now())).pending).toBe(1);
      expect((await laneOf(b)).generation).toBe(1);
    });

    it('may use an idempotency key that another has used', async () => {
      const b = bench();
      const idempotency = { key: 'k1', bodyHash: 'h1' };
      await store(b, { idempotency });
      const theirs = newBatch(b.tools, { tenant: OTHER_TENANT, idempotency: { ...idempotency, bodyHash: 'h2' } });
      expect((await append(b, theirs)).kind).toBe('stored');
    });

    it('never sees what belongs to another', async () => {
      const b = bench();
      const mine = await consolidatedBatch(b);
      const { batches, memories, overview, thoughts } = b.ledger;
      expect(await batches.get(OTHER_TENANT, mine.batchId)).toBeNull();
      expect(await batches.events(OTHER_TENANT, mine.batchId)).toEqual([]);
      expect((await batches.list(OTHER_TENANT, {}, ALL)).results).toEqual([]);
      expect(await thoughts.get(OTHER_TENANT, mine.consolidationId)).toBeNull();
      expect((await thoughts.list(OTHER_TENANT, {}, ALL)).results).toEqual([]);
      expect(await memories.get(OTHER_TENANT, mine.memoryId)).toBeNull();
      expect(await memories.many(OTHER_TENANT, [mine.memoryId])).toEqual([]);
      expect((await memories.list(OTHER_TENANT, scope(), b.tools.now(), ALL)).results).toEqual([]);
      expect(await memories.liveIds(OTHER_TENANT, scope())).toEqual([]);
      expect((await memories.history(OTHER_TENANT, mine.memoryId, ALL)).results).toEqual([]);
      expect(await memories.sources(OTHER_TENANT, mine.memoryId, { before: 5, after: 5 })).toEqual([]);
      expect((await memories.messages(OTHER_TENANT, mine.messageIds)).size).toBe(0);
      expect(await overview.ownerCount(OTHER_TENANT)).toBe(0);
      expect((await overview.owners(OTHER_TENANT, ALL)).results).toEqual([]);
      expect((await overview.batches(OTHER_TENANT)).accepted).toBe(0);
      expect(await overview.memories(OTHER_TENANT)).toEqual({ live: 0, versions: 0 });
    });

    it('cannot change the memories of another', async () => {
      const b = bench();
      const { memoryId } = await consolidatedBatch(b);
      const [memory] = await b.ledger.memories.many(TENANT, [memoryId]);
      const changes = memory === undefined ? [] : [updated(b.tools, memory, { text: 'Lives in Rome' })];
      const answer = await b.ledger.memories.write(OTHER_TENANT, { changes, tombstones: [], now: b.tools.now() });
      expect(answer).toEqual({ kind: 'conflict', memoryIds: [memoryId] });
      expect(await b.ledger.memories.get(TENANT, memoryId)).toEqual(memory);
    });

    it('cannot replay the parked batches of another', async () => {
      const b = bench();
      const { batch } = await store(b);
      await fail(b, await nextTurn(b), { retryable: false });
      const parked = await b.ledger.batches.list(OTHER_TENANT, { state: 'parked' }, { limit: 10, cursor: null });
      expect(parked.results).toEqual([]);
      const answer = await replay(b, [batch.id], OTHER_TENANT);
      expect(answer).toEqual({ replayed: [], nudges: [] });
      expect((await b.ledger.overview.batches(TENANT)).parked).toBe(1);
    });

    it('has owners whose names look like anything', async () => {
      const b = bench();
      const names = ["o'hara; --", '用户', '%', '_', 'a"b', 'ANN', '{"kind":"user"}', 'ann\u00e9'];
      for (const userId of ['ann', ...names]) await store(b, { scope: scope({ userId }) });
      expect(await b.ledger.overview.ownerCount(TENANT)).toBe(names.length + 1);
      for (const userId of names) {
        expect(await laneOf(b, user(userId))).toMatchObject({ owner: user(userId), pending: 1 });
        expect((await b.ledger.batches.list(TENANT, { userId }, ALL)).results.length).toBe(1);
      }
    });
  });
}

/** A batch of ann that became a memory. */
async function consolidatedBatch(b: Bench) {
  const { batch } = await store(b);
  const turn = await nextTurn(b);
  const messageIds = batch.messages.map((message) => message.id);
  const born = added(b.tools, home(turn.lane), { sourceIds: messageIds });
  await apply(b, turn, { changes: [born] });
  await project(b);
  return { batchId: batch.id, consolidationId: turn.consolidationId, memoryId: born.memory.id, messageIds };
}
