import type { LaneId } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, home, scope, updated } from './builders.ts';
import {
  ANN,
  apply,
  applyOnly,
  type Bench,
  batchOf,
  claimedBatch,
  clear,
  failure,
  nextTurn,
  project,
  SECOND,
  store,
  TENANT,
  write,
} from './ledger-bench.ts';

/** Nothing is forgotten since. */
const NOTHING_ELSE = { forgottenSince: Number.MAX_SAFE_INTEGER, textHashes: [] };

export function describeOutbox(bench: () => Bench): void {
  describe('the outbox', () => {
    it('gives every change an entry of its own, oldest first', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const born = added(b.tools, home(turn.lane));
      await apply(b, turn, { changes: [born, added(b.tools, home(turn.lane))] });
      await write(b, updated(b.tools, born.memory));
      const entries = await b.ledger.outbox.pending(10);
      expect(entries.length).toBe(3);
      expect(entries.map((entry) => entry.seq)).toEqual([...new Set(entries.map((entry) => entry.seq))].sort(byNumber));
      expect(entries[0]).toMatchObject({ memoryId: born.memory.id, tenant: TENANT, lane: turn.lane });
      expect((await b.ledger.outbox.pending(1)).map((entry) => entry.seq)).toEqual([entries[0]?.seq]);
      expect((await b.ledger.outbox.ofMemories([born.memory.id])).length).toBe(2);
      expect((await b.ledger.outbox.ofConsolidation(turn, null)).entries.length).toBe(2);
      expect(await b.ledger.outbox.ofMemories([])).toEqual([]);
      expect(await b.ledger.overview.outbox()).toBe(3);
    });

    it('has of a consolidation what it left, with its memories and what they came from where they are few', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      const sourceIds = batch.messages.map(({ id }) => id);
      const born = added(b.tools, home(turn.lane), { sourceIds });
      await apply(b, turn, { changes: [born] });
      const later = updated(b.tools, born.memory, { text: 'Lives in Rome' });
      await write(b, later);
      const left = await b.ledger.outbox.ofConsolidation(turn, null);
      expect(left.entries.map(({ memoryId }) => memoryId)).toEqual([born.memory.id]);
      expect(left.memories).toEqual([later.memory]);
      expect(left.said).toEqual(await b.ledger.speech.said(turn.lane, sourceIds));
      expect(left.said).toMatchObject({ stands: true, said: [{ message: { id: sourceIds[0] } }] });
      await project(b);
      await b.ledger.outbox.reproject(turn.lane);
      const { batches } = await b.ledger.outbox.ofConsolidation(turn, null);
      expect(batches.map(({ id }) => id)).toEqual([batch.id]);
      expect(batches).toEqual(await b.ledger.speech.unprojectedOf([turn.consolidationId]));
      await project(b);
      const said = { stands: true, said: [] };
      const nothing = { entries: [], memories: [], said, credits: [], batches: [], summary: null };
      expect(await b.ledger.outbox.ofConsolidation(turn, null)).toEqual(nothing);
      await store(b);
      const next = await nextTurn(b);
      await apply(b, next, { changes: Array.from({ length: 65 }, () => added(b.tools, home(next.lane))) });
      const many = await b.ledger.outbox.ofConsolidation(next, null);
      expect([many.entries.length, many.memories, many.said, many.credits]).toEqual([65, null, null, null]);
    });

    it('has what its memories came from once, of its own batches and of earlier ones', async () => {
      const b = bench();
      const { batch: earlier, turn: before } = await claimedBatch(b);
      await apply(b, before, { changes: [added(b.tools, home(before.lane))] });
      const { batch, turn } = await claimedBatch(b);
      const sourceIds = [earlier, batch].flatMap(({ messages }) => messages.map(({ id }) => id));
      await applyOnly(b, turn, { changes: [added(b.tools, home(turn.lane), { sourceIds })] });
      const { said, batches } = await b.ledger.outbox.ofConsolidation(turn, null);
      expect(batches.map(({ id }) => id)).toEqual([batch.id]);
      expect(said).toEqual(await b.ledger.speech.said(turn.lane, sourceIds));
      expect(said?.said.map(({ message, before: one }) => [message.id, one?.id])).toEqual([
        [sourceIds[0], undefined],
        [sourceIds[1], sourceIds[0]],
      ]);
    });

    it('leaves what was just applied to whoever applied it, and nothing else', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      await apply(b, turn, { changes: [added(b.tools, home(turn.lane))] });
      await b.ledger.outbox.reproject(turn.lane); // the batch; and the memory once more, by nobody's consolidation
      const now = b.tools.now();
      const seen = async (after: number, upTo: number) => {
        const left = { after, upTo };
        const batches = await b.ledger.speech.unprojected(9, left);
        return [(await b.ledger.outbox.pending(9, left)).length, batches.map(({ id }) => id)];
      };
      expect(await seen(now - 1, now)).toEqual([1, []]);
      expect(await seen(now, now + SECOND)).toEqual([2, [batch.id]]);
      expect(await seen(now - SECOND, now - 1)).toEqual([2, [batch.id]]);
      expect((await b.ledger.outbox.pending(9)).length).toBe(2);
    });

    it('sets lanes aside: their changes wait for a time of their own, and stand before nobody else', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await apply(b, turn, { changes: [added(b.tools, home(turn.lane))] });
      const bob = await b.ledger.memories.laneOf(TENANT, { kind: 'user', id: 'bob' }, b.tools.now());
      await write(b, added(b.tools, home(bob, { scope: scope({ userId: 'bob' }) })));
      const now = b.tools.now();
      const first = { lane: turn.lane, failures: 1, notBefore: now + SECOND, failure: failure(now) };
      await b.ledger.outbox.refill();
      const lanes = async () => [...new Set((await b.ledger.outbox.pending(10)).map(({ lane }) => lane))];
      expect(await lanes()).toEqual([turn.lane, bob]);
      await b.ledger.outbox.setAside([first, { ...first, lane: 'lane_none' as LaneId }]);
      expect([await lanes(), await b.ledger.speech.unprojected(10)]).toEqual([[bob], []]);
      expect((await b.ledger.outbox.ofLane(bob, 10)).map(({ lane }) => lane)).toEqual([bob]);
      expect(await b.ledger.outbox.ofLane(turn.lane, 1)).toHaveLength(1);
      expect((await b.ledger.speech.unprojectedIn(turn.lane, 10)).map(({ lane }) => lane)).toEqual([turn.lane]);
      expect(await b.ledger.speech.unprojectedIn(bob, 10)).toEqual([]);
      expect(await b.ledger.outbox.aside(now, 10)).toEqual([]);
      expect(await b.ledger.outbox.aside(now + SECOND, 10)).toEqual([first]);
      const again = { ...first, failures: 2, notBefore: now + 2 * SECOND, failure: failure(now, 'model_server_error') };
      await b.ledger.outbox.setAside([again, { ...first, lane: bob }]);
      expect((await b.ledger.outbox.aside(now + 9 * SECOND, 10)).map(({ lane }) => lane)).toEqual([bob, turn.lane]);
      expect((await b.ledger.outbox.aside(now + 9 * SECOND, 10))[1]).toEqual(again);
      expect((await b.ledger.outbox.aside(now + 9 * SECOND, 1)).map(({ lane }) => lane)).toEqual([bob]);
      expect([await lanes(), await b.ledger.outbox.countAside()]).toEqual([[], 2]);
      await b.ledger.outbox.takeUp([turn.lane, bob]);
      expect([await lanes(), await b.ledger.outbox.countAside()]).toEqual([[turn.lane, bob], 0]);
    });

    it('has all of one lane again, and nothing of others', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const born = added(b.tools, home(turn.lane));
      await apply(b, turn, { changes: [born] });
      const bob = await b.ledger.memories.laneOf(TENANT, { kind: 'user', id: 'bob' }, b.tools.now());
      await write(b, added(b.tools, home(bob, { scope: scope({ userId: 'bob' }) })));
      await project(b);
      expect(await b.ledger.overview.outbox()).toBe(0);
      await b.ledger.outbox.reproject(turn.lane);
      await b.ledger.outbox.reproject(turn.lane);
      expect((await b.ledger.outbox.pending(9)).map(({ memoryId }) => memoryId)).toEqual([born.memory.id]);
      expect((await b.ledger.speech.unprojected(9)).map(({ lane }) => lane)).toEqual([turn.lane]);
      expect(await b.ledger.outbox.refilling()).toBe(false);
    });

    it('never gives a number twice, also when it was empty in between', async () => {
      const b = bench();
      const born = await writtenMemory(b);
      const [first] = await b.ledger.outbox.pending(10);
      await project(b);
      await write(b, updated(b.tools, born.memory));
      const [second] = await b.ledger.outbox.pending(10);
      expect(second?.seq).toBeGreaterThan(first?.seq ?? 0);
    });

    it('names the memories that the index does not have yet', async () => {
      const b = bench();
      const born = await writtenMemory(b);
      const { lane } = born.memory;
      const unindexed = async () => (await b.ledger.memories.unindexed(lane, NOTHING_ELSE)).memories;
      expect(await unindexed()).toEqual([born.memory]);
      const change = updated(b.tools, born.memory, { text: 'Lives in Rome' });
      await write(b, change);
      expect(await unindexed()).toEqual([change.memory]);
      await project(b);
      expect(await unindexed()).toEqual([]);
    });

    it('keeps a change that came while the memory was being projected', async () => {
      const b = bench();
      const born = await writtenMemory(b);
      const seen = await b.ledger.outbox.pending(10);
      await write(b, updated(b.tools, born.memory));
      const seqs = seen.map((entry) => entry.seq);
      await clear(b, seqs);
      expect((await b.ledger.outbox.pending(10)).map((entry) => entry.memoryId)).toEqual([born.memory.id]);
    });

    it('ends a batch only with the last entry of its consolidation', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      const at = home(turn.lane);
      await apply(b, turn, { changes: [added(b.tools, at), added(b.tools, at)] });
      const [first, second] = (await b.ledger.outbox.pending(10)).map((entry) => entry.seq);
      expect(await clear(b, [first ?? 0])).toEqual([]);
      expect((await batchOf(b, batch.id)).state).toBe('consolidating');
      b.tools.advance(SECOND);
      expect(await clear(b, [second ?? 0])).toEqual([batch.acceptedAt]);
      expect(await batchOf(b, batch.id)).toMatchObject({ state: 'consolidated', searchableAt: b.tools.now() });
    });

    it('takes a second clearing of the same entries for nothing', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      await apply(b, turn, { changes: [added(b.tools, home(turn.lane))] });
      const seqs = (await b.ledger.outbox.pending(10)).map((entry) => entry.seq);
      await clear(b, seqs);
      const done = await batchOf(b, batch.id);
      b.tools.advance(SECOND);
      await clear(b, seqs);
      await clear(b, []);
      expect(await batchOf(b, batch.id)).toEqual(done);
    });

    it('does not end batches of another consolidation that changed the same memory', async () => {
      const b = bench();
      const { batch: first, turn } = await claimedBatch(b);
      const born = added(b.tools, home(turn.lane));
      await apply(b, turn, { changes: [born] });
      const { batch: second } = await store(b);
      const next = await nextTurn(b);
      await apply(b, next, { changes: [updated(b.tools, born.memory)] });
      const [entry] = (await b.ledger.outbox.ofConsolidation(next, null)).entries;
      await clear(b, [entry?.seq ?? 0]);
      expect((await batchOf(b, first.id)).state).toBe('consolidating');
      expect((await batchOf(b, second.id)).state).toBe('consolidated');
    });

    it('can be filled again with every memory of every tenant, without touching batches', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      const born = added(b.tools, home(turn.lane));
      await apply(b, turn, { changes: [born] });
      await project(b);
      const other = await writtenMemory(b);
      await project(b);
      expect(await b.ledger.outbox.refill()).toBe(2);
      const memoryIds = (await b.ledger.outbox.pending(10)).map((entry) => entry.memoryId);
      expect(memoryIds.sort()).toEqual([born.memory.id, other.memory.id].sort());
      expect((await batchOf(b, batch.id)).state).toBe('consolidated');
      await project(b);
      expect(await b.ledger.overview.outbox()).toBe(0);
    });

    it('says that it is being filled again until all of that is projected, and not of later changes', async () => {
      const b = bench();
      await writtenMemory(b);
      const { memory } = await writtenMemory(b);
      expect(await b.ledger.outbox.refilling()).toBe(false);
      await b.ledger.outbox.refill();
      await write(b, updated(b.tools, memory));
      const seqs = (await b.ledger.outbox.pending(10)).map((entry) => entry.seq);
      expect(seqs.length).toBe(3);
      await clear(b, seqs.slice(0, 1));
      expect(await b.ledger.outbox.refilling()).toBe(true);
      await clear(b, seqs.slice(1, 2));
      expect(await b.ledger.outbox.refilling()).toBe(false);
      expect((await b.ledger.outbox.pending(10)).length).toBe(1);
    });

    it('can be filled again while batches wait for it', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b, { scope: scope() });
      await apply(b, turn, { changes: [added(b.tools, home(turn.lane))] });
      expect(await b.ledger.outbox.refill()).toBe(1);
      await project(b);
      expect((await batchOf(b, batch.id)).state).toBe('consolidated');
    });
  });
}

const byNumber = (a: number, b: number): number => a - b;

async function writtenMemory(b: Bench) {
  const lane = await b.ledger.memories.laneOf(TENANT, ANN, b.tools.now());
  const born = added(b.tools, home(lane));
  await write(b, born);
  return born;
}
