import type { Erasure, LaneId, Owner } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, deleted, home, newPlan, scope, settledCall, storedAnswer, user } from './builders.ts';
import {
  ALL,
  ANN,
  apply,
  type Bench,
  batchOf,
  claim,
  claimedBatch,
  expectKind,
  expectThere,
  laneOf,
  nextTurn,
  project,
  store,
  TENANT,
  write,
} from './ledger-bench.ts';

const FINGERPRINT = 'suite';

export const request = (bench: Bench, owner: Owner = ANN): Promise<Erasure> =>
  bench.ledger.erasures.request(TENANT, owner, {
    id: bench.tools.id('ers'),
    ownerHash: `hash of ${owner.kind === 'user' ? '' : `${owner.kind} `}${owner.id}`,
    now: bench.tools.now(),
  });

/** Takes slices until nothing is left. Answers with how many it took. */
export async function eraseAll(bench: Bench, id: string, limit = 2): Promise<number> {
  for (let slices = 0; slices < 1_000; slices += 1) {
    const { more } = await bench.ledger.erasures.slice(id, limit);
    if (!more) return slices;
  }
  throw new Error('the slices did not come to an end');
}

/** A consolidated batch with an answer, a plan, a memory, and its vector; then a parked one, and one that waits. */
export async function aLife(
  bench: Bench,
  owner: Owner = ANN,
): Promise<{ batchId: string; memoryId: string; lane: LaneId }> {
  const given = { scope: scope({ [`${owner.kind}Id`]: owner.id }) };
  const { batch } = await store(bench, {
    ...given,
    idempotency: { key: `key of ${owner.kind} ${owner.id}`, bodyHash: 'h' },
  });
  const turn = await nextTurn(bench, { owner });
  const { ledger, tools } = bench;
  await ledger.thoughts.storeAnswer(turn, storedAnswer(tools), settledCall(tools, turn));
  await ledger.thoughts.storePlan(turn, newPlan(turn));
  const change = added(tools, { ...home(turn.lane), owner, scope: given.scope });
  await apply(bench, turn, { changes: [change] });
  await ledger.thoughts.storeVectors(turn.lane, FINGERPRINT, new Map([['7e', Float32Array.of(1, 2)]]));
  await project(bench);
  await write(bench, deleted(tools, change.memory));
  await store(bench, given);
  return { batchId: batch.id, memoryId: change.memory.id, lane: turn.lane };
}

/** What holds while an owner is erased, and afterwards. */
export function describeErasures(bench: () => Bench): void {
  describe('an erasure', () => {
    it('is read by nobody from the moment it is asked for, whatever id it is asked for by', async () => {
      const b = bench();
      const ann = await aLife(b);
      const bob = await aLife(b, user('bob'));
      const { ledger } = b;
      const [before] = (await ledger.thoughts.list(TENANT, { userId: 'ann' }, ALL)).results;
      expect((await ledger.memories.history(TENANT, ann.memoryId, ALL)).results).toHaveLength(2);
      await request(b);
      expect(await ledger.memories.get(TENANT, ann.memoryId)).toBeNull();
      expect((await ledger.memories.many(TENANT, [ann.memoryId, bob.memoryId])).map(({ id }) => id)).toEqual([
        bob.memoryId,
      ]);
      expect((await ledger.memories.history(TENANT, ann.memoryId, ALL)).results).toEqual([]);
      expect(await ledger.memories.sources(TENANT, ann.memoryId, { before: 9, after: 9 })).toEqual([]);
      expect(await ledger.batches.get(TENANT, ann.batchId)).toBeNull();
      expect(await ledger.batches.events(TENANT, ann.batchId)).toEqual([]);
      expect(await ledger.thoughts.get(TENANT, before?.id ?? '')).toBeNull();
      await store(b);
      for (const userId of ['ann', undefined]) {
        const filter = userId === undefined ? {} : { userId };
        const [batches, turns] = [
          await ledger.batches.list(TENANT, filter, ALL),
          await ledger.thoughts.list(TENANT, filter, ALL),
        ];
        expect([...batches.results, ...turns.results].filter(({ lane }) => lane === ann.lane)).toEqual([]);
      }
      expect((await ledger.batches.list(TENANT, { userId: 'ann' }, ALL)).results).toHaveLength(1);
    });

    it('takes everything of the owner, in slices, and nothing of others', async () => {
      const b = bench();
      const ann = await aLife(b);
      const bob = await aLife(b, user('bob'));
      const { id } = await request(b);
      expect(await eraseAll(b, id, 1)).toBeGreaterThan(3);
      const { ledger } = b;
      expect(await ledger.batches.get(TENANT, ann.batchId)).toBeNull();
      expect(await ledger.memories.get(TENANT, ann.memoryId)).toBeNull();
      expect((await ledger.memories.history(TENANT, ann.memoryId, ALL)).results).toEqual([]);
      expect((await ledger.batches.list(TENANT, { userId: 'ann' }, ALL)).results).toEqual([]);
      expect(await ledger.outbox.ofMemories([ann.memoryId])).toEqual([]);
      expect((await ledger.thoughts.vectors(ann.lane, FINGERPRINT, ['7e'])).size).toBe(0);
      expect((await batchOf(b, bob.batchId)).state).toBe('consolidated');
      expect(await ledger.memories.get(TENANT, bob.memoryId)).not.toBeNull();
      expect((await ledger.overview.batches(TENANT)).erased).toBe(2);
      await ledger.erasures.forgetOwner(id);
      expect(await ledger.lanes.get(ann.lane)).toBeNull();
    });

    it.each(['agent', 'run'] as const)(
      'of a %s takes what it owns, and nothing of who named it or has its id',
      async (kind) => {
        const b = bench();
        const owner = { kind, id: 'ann' };
        const [gone, kept] = [await aLife(b, owner), await aLife(b)];
        const { batch: named } = await store(b, { scope: scope({ userId: 'ann', agentId: 'ann', runId: 'ann' }) });
        const { id } = await request(b, owner);
        expect(await b.ledger.batches.get(TENANT, gone.batchId)).toBeNull();
        await eraseAll(b, id);
        await b.ledger.erasures.forgetOwner(id);
        const counts = { batches: 2, memories: 1, consolidations: 1 };
        expect(await b.ledger.erasures.get(TENANT, id)).toMatchObject({ owner: null, counts });
        expect(await b.ledger.lanes.get(gone.lane)).toBeNull();
        expect(await b.ledger.memories.get(TENANT, gone.memoryId)).toBeNull();
        expect(await b.ledger.memories.get(TENANT, kept.memoryId)).not.toBeNull();
        expect((await batchOf(b, kept.batchId)).state).toBe('consolidated');
        expect((await batchOf(b, named.id)).scope).toMatchObject({ agentId: 'ann', runId: 'ann' });
      },
    );

    it('counts what it took, and goes through its states', async () => {
      const b = bench();
      await aLife(b);
      const { id, ...asked } = await request(b);
      expect(asked).toMatchObject({ state: 'requested', owner: ANN, counts: {}, erasedAt: null });
      const { erasures } = b.ledger;
      await eraseAll(b, id);
      const erasing = expectThere(await erasures.get(TENANT, id));
      expect(erasing).toMatchObject({ state: 'erasing', counts: { batches: 2, memories: 1, consolidations: 1 } });
      await erasures.forgetOwner(id);
      expect(await erasures.get(TENANT, id)).toMatchObject({ state: 'compacting', owner: null, lane: null });
      expect((await erasures.open(10)).map((open) => open.id)).toEqual([id]);
      expect((await erasures.compact()).done).toBe(true);
      const now = b.tools.now();
      await erasures.finish([id], { remains: ['a tape'], now });
      const over = { state: 'erased', remains: ['a tape'], erasedAt: now, ownerHash: 'hash of ann' };
      expect(await erasures.get(TENANT, id)).toMatchObject(over);
      expect(await erasures.open(10)).toEqual([]);
    });

    it('survives the end of the process that asked for it', async () => {
      const b = bench();
      await aLife(b);
      const asked = await request(b);
      const again = await b.reopened();
      expect(await again.erasures.open(10)).toEqual([asked]);
    });

    it('is shown to its own tenant only', async () => {
      const b = bench();
      const { id, tenant } = await request(b);
      expect(await b.ledger.erasures.get(`not ${tenant}` as typeof tenant, id)).toBeNull();
      expect(await b.ledger.erasures.get(tenant, 'ers_unknown')).toBeNull();
    });

    it('fences the turn that is under way', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await request(b);
      const { ledger, tools } = b;
      expect(await ledger.thoughts.storeAnswer(turn, storedAnswer(tools))).toEqual({ kind: 'fenced' });
      expect(await ledger.thoughts.storePlan(turn, newPlan(turn))).toEqual({ kind: 'fenced' });
      expect(await apply(b, turn)).toEqual({ kind: 'fenced' });
      const { lane, generation } = turn;
      expect(await claim(b, { lane, generation: generation + 1 })).toEqual({ kind: 'stale' });
      expect(await ledger.lanes.withWork(null, 10)).toEqual([]);
    });

    it('leaves what the owner says afterwards to a lane of its own', async () => {
      const b = bench();
      const old = await aLife(b);
      const { id } = await request(b);
      const { batch } = await store(b);
      const fresh = await laneOf(b);
      expect(fresh.id).not.toBe(old.lane);
      await eraseAll(b, id);
      await b.ledger.erasures.forgetOwner(id);
      const turn = await nextTurn(b);
      expect(turn.batchIds).toEqual([batch.id]);
      await apply(b, turn);
      expect((await batchOf(b, batch.id)).state).toBe('empty');
      expect(await b.ledger.erasures.standing(fresh.id)).toBe(true);
      expect(await b.ledger.erasures.standing(old.lane)).toBe(false);
      expect((await b.ledger.speech.said(fresh.id, [])).stands).toBe(true);
      expect((await b.ledger.speech.said(old.lane, [])).stands).toBe(false);
      const clearing = (lane: LaneId) =>
        b.ledger.outbox.clear(
          { seqs: [], batches: [], from: { lane, messageIds: [], saying: 0, memoryIds: [], credits: [] } },
          b.tools.now(),
        );
      expect([await clearing(fresh.id), await clearing(old.lane)]).toEqual([[], null]);
    });

    it('refuses what would still be written to the old lane', async () => {
      const b = bench();
      const { lane, memoryId } = await aLife(b);
      const memory = expectThere(await b.ledger.memories.get(TENANT, memoryId));
      await request(b);
      const { tools, ledger } = b;
      const now = tools.now();
      for (const change of [deleted(tools, memory), added(tools, home(lane))]) {
        const written = await ledger.memories.write(TENANT, { changes: [change], tombstones: [], now });
        expectKind(written, 'conflict');
      }
      expect((await ledger.memories.list(TENANT, scope(), now, ALL)).results).toEqual([]);
      expect((await ledger.overview.owners(TENANT, ALL)).results).toEqual([]);
      expect(await ledger.overview.ownerCount(TENANT)).toBe(0);
    });

    it('asked for twice is one, until there is something new to erase', async () => {
      const b = bench();
      await aLife(b);
      const first = await request(b);
      expect((await request(b)).id).toBe(first.id);
      await store(b);
      const second = await request(b);
      expect(second.id).not.toBe(first.id);
      for (const { id } of [second, first]) {
        await eraseAll(b, id);
        await b.ledger.erasures.forgetOwner(id);
      }
      expect((await b.ledger.overview.batches(TENANT)).erased).toBe(3);
    });

    it('of somebody unknown finds nothing to do', async () => {
      const b = bench();
      const { id } = await request(b, user('nobody'));
      expect(await eraseAll(b, id)).toBe(0);
      await b.ledger.erasures.forgetOwner(id);
      expect(await b.ledger.erasures.get(TENANT, id)).toMatchObject({ state: 'compacting', counts: {} });
    });

    it('keeps what was used for the tenant as a whole, and forgets for whom', async () => {
      const b = bench();
      const { lane } = await aLife(b);
      const before = await b.ledger.overview.usage(TENANT);
      expect(before.calls).toBe(1);
      const { id } = await request(b);
      await eraseAll(b, id);
      await b.ledger.erasures.forgetOwner(id);
      expect(await b.ledger.overview.usage(TENANT)).toEqual(before);
      expect(await b.ledger.overview.usageOfDay({ tenant: TENANT }, b.tools.now())).toHaveLength(1);
      expect(await b.ledger.overview.usageOfDay({ lane }, b.tools.now())).toEqual([]);
    });

    it('lets late vectors and calls of the lane come to nothing', async () => {
      const b = bench();
      const { lane } = await aLife(b);
      const { id } = await request(b);
      const { erasures, thoughts } = b.ledger;
      const storeLate = () => thoughts.storeVectors(lane, FINGERPRINT, new Map([['1a7e', Float32Array.of(1)]]));
      await eraseAll(b, id);
      await storeLate();
      expect((await thoughts.vectors(lane, FINGERPRINT, ['1a7e'])).size).toBe(0);
      await erasures.forgetOwner(id);
      await storeLate();
      expect((await thoughts.vectors(lane, FINGERPRINT, ['1a7e'])).size).toBe(0);
    });
  });
}
