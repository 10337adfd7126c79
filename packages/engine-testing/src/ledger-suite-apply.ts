import type { Memory, MemoryVersion } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import {
  added,
  confirmed,
  deleted,
  home,
  newMessage,
  newNudge,
  retracted,
  scope,
  storedAnswer,
  updated,
} from './builders.ts';
import {
  ALL,
  ANN,
  apply,
  applyOnly,
  type Bench,
  batchOf,
  claim,
  claimedBatch,
  expectKind,
  laneOf,
  OTHER_TENANT,
  POLICY,
  project,
  SECOND,
  store,
  TENANT,
  write,
} from './ledger-bench.ts';

export function describeApply(bench: () => Bench): void {
  describe('applying a plan', () => {
    it('writes memories, history and outbox, and lets the batches wait for the index', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      const at = home(turn.lane);
      const changes = [added(b.tools, at), added(b.tools, at, { text: 'Likes tea' })];
      b.tools.advance(SECOND);
      expect(await apply(b, turn, { changes })).toEqual({ kind: 'applied', next: null });
      for (const { memory, events } of changes) {
        expect(await b.ledger.memories.get(TENANT, memory.id)).toEqual(memory);
        expect((await b.ledger.memories.history(TENANT, memory.id, ALL)).results).toEqual(events);
      }
      const { entries } = await b.ledger.outbox.ofConsolidation(turn, null);
      expect(entries.map((entry) => entry.memoryId)).toEqual(changes.map(({ memory }) => memory.id));
      expect(await batchOf(b, batch.id)).toMatchObject({
        state: 'consolidating',
        stage: 'project',
        appliedAt: b.tools.now(),
        searchableAt: null,
      });
      expect(await b.ledger.thoughts.get(TENANT, turn.consolidationId)).toMatchObject({ state: 'applied' });
    });

    it('that changes nothing ends its batches as soon as the index has their messages', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      b.tools.advance(SECOND);
      await applyOnly(b, turn);
      expect(await batchOf(b, batch.id)).toMatchObject({ state: 'consolidating', stage: 'project' });
      await project(b);
      expect(await batchOf(b, batch.id)).toMatchObject({
        state: 'empty',
        stage: 'done',
        appliedAt: b.tools.now(),
        searchableAt: b.tools.now(),
      });
    });

    it('ends each batch as the plan says once the index has everything', async () => {
      const b = bench();
      const { batch: full } = await store(b);
      const { batch: idle, turn } = await claimedBatch(b);
      const batches = new Map<string, 'consolidated' | 'empty'>([
        [full.id, 'consolidated'],
        [idle.id, 'empty'],
      ]);
      await apply(b, turn, { changes: [added(b.tools, home(turn.lane))], batches });
      expect((await b.ledger.overview.batches(TENANT)).consolidating).toBe(2);
      b.tools.advance(SECOND);
      await project(b);
      const searchableAt = b.tools.now();
      expect(await batchOf(b, full.id)).toMatchObject({ state: 'consolidated', stage: 'done', searchableAt });
      expect(await batchOf(b, idle.id)).toMatchObject({ state: 'empty', stage: 'done', searchableAt });
    });

    it('frees its lane before the index has anything', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const { batch } = await store(b);
      const changes = [added(b.tools, home(turn.lane))];
      const { next } = expectKind(await apply(b, turn, { changes }), 'applied');
      expect(next).toEqual(newNudge(turn.lane, { generation: 2, dueAt: batch.acceptedAt + POLICY.idleMs }));
      expect(await laneOf(b)).toMatchObject({ state: 'waiting', generation: 2, pending: 1, attempts: 0 });
    });

    it('keeps every event of a change, and confirmations too', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const born = added(b.tools, home(turn.lane));
      const seen = confirmed(b.tools, born.memory);
      const events = [...born.events, ...seen.events];
      await apply(b, turn, { changes: [{ memory: seen.memory, expectedRevision: 0, events }] });
      expect(await b.ledger.memories.get(TENANT, born.memory.id)).toMatchObject({ revision: 2, confirmations: 1 });
      expect((await b.ledger.memories.history(TENANT, born.memory.id, ALL)).results).toEqual(events);
    });

    it('leaves versions as they follow from what was said, for statements that ask about them', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const born = added(b.tools, home(turn.lane), { text: 'Likes tea' });
      await apply(b, turn, { changes: [born] });
      const changes = [
        (memory: Memory) => updated(b.tools, memory, { text: 'Likes coffee' }),
        (memory: Memory) =>
          updated(b.tools, memory, { text: 'Likes milk', saidAt: { at: b.tools.now() - 5 * SECOND, seq: 9 } }),
        (memory: Memory) => confirmed(b.tools, memory, { text: 'Likes coffee' }),
        (memory: Memory) => deleted(b.tools, memory),
        (memory: Memory) => retracted(b.tools, memory, { retracts: [2, 5] }),
      ];
      let { memory } = born;
      for (const change of changes) {
        b.tools.advance(SECOND);
        const next = change(memory);
        await write(b, next);
        memory = next.memory;
        expect(await b.ledger.memories.storedVersions(TENANT, memory.id)).toEqual(byNumber(memory));
      }
      expect(memory.versions.length).toBeGreaterThan(1);
      expect(await b.ledger.memories.storedVersions(OTHER_TENANT, memory.id)).toEqual([]);
    });

    it('happens once', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const changes = [added(b.tools, home(turn.lane))];
      await apply(b, turn, { changes });
      expect(await apply(b, turn, { changes })).toEqual({ kind: 'fenced' });
      expect((await b.ledger.memories.history(TENANT, changes[0]?.memory.id ?? '', ALL)).results.length).toBe(1);
    });

    it('survives the ledger being closed and opened again', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      const change = added(b.tools, home(turn.lane), {
        details: { metadata: { a: [1, null, 'ü'] }, quote: '“Berlin”', category: 'home' },
      });
      await apply(b, turn, { changes: [change] });
      const later = await b.reopened();
      expect(await later.memories.get(TENANT, change.memory.id)).toEqual(change.memory);
      expect((await later.outbox.pending(10)).length).toBe(1);
      expect((await later.batches.get(TENANT, batch.id))?.stage).toBe('project');
    });
  });

  describe('a worker that lost its lane', () => {
    it('writes nothing, whatever it tries', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      const later = expectKind(await claim(b, turn), 'claimed').turn;
      const changes = [added(b.tools, home(turn.lane))];
      expect(await apply(b, turn, { changes })).toEqual({ kind: 'fenced' });
      expect(await b.ledger.memories.get(TENANT, changes[0]?.memory.id ?? '')).toBeNull();
      expect(await b.ledger.overview.outbox()).toBe(0);
      expect((await batchOf(b, batch.id)).stage).toBe('extract');
      expect((await apply(b, later, { changes })).kind).toBe('applied');
    });

    it('cannot write into the next consolidation of the lane', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await apply(b, turn);
      const { turn: next } = await claimedBatch(b);
      expect(await apply(b, { ...turn, epoch: next.epoch })).toEqual({ kind: 'fenced' });
      expect(await b.ledger.thoughts.storeAnswer(turn, storedAnswer(b.tools))).toEqual({ kind: 'fenced' });
      expect((await laneOf(b)).state).toBe('consolidating');
    });

    it('is one of two that apply at the same time', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const answers = await Promise.all([apply(b, turn), apply(b, turn)]);
      expect(answers.map((answer) => answer.kind).sort()).toEqual(['applied', 'fenced']);
    });
  });

  describe('a plan that explicit writes overtook', () => {
    it('changes nothing and names the memories', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      const at = home(turn.lane);
      const [kept, moved, gone] = [added(b.tools, at), added(b.tools, at), added(b.tools, at)];
      await write(b, kept, moved, gone);
      const plan = [kept, moved, gone].map(({ memory }) => updated(b.tools, memory, { text: 'Lives in Rome' }));
      await write(b, updated(b.tools, moved.memory, { text: 'Lives in Oslo' }), deleted(b.tools, gone.memory));
      const answer = expectKind(await apply(b, turn, { changes: plan }), 'conflict');
      expect([...answer.memoryIds].sort()).toEqual([moved.memory.id, gone.memory.id].sort());
      expect(await b.ledger.memories.get(TENANT, kept.memory.id)).toEqual(kept.memory);
      expect((await batchOf(b, batch.id)).state).toBe('consolidating');
    });

    it('is decided again in the same turn', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const born = added(b.tools, home(turn.lane));
      await write(b, born);
      const stale = added(b.tools, home(turn.lane), { memoryId: born.memory.id });
      expect((await apply(b, turn, { changes: [stale] })).kind).toBe('conflict');
      const fresh = updated(b.tools, born.memory, { text: 'Lives in Rome' });
      expect((await apply(b, turn, { changes: [fresh] })).kind).toBe('applied');
      expect((await b.ledger.memories.get(TENANT, born.memory.id))?.revision).toBe(2);
    });

    it('may not expect a memory that is not there', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const never = added(b.tools, home(turn.lane));
      const change = updated(b.tools, never.memory);
      const answer = await apply(b, turn, { changes: [change] });
      expect(answer).toEqual({ kind: 'conflict', memoryIds: [never.memory.id] });
    });
  });

  describe('tombstones', () => {
    it('are found by the text they block, in their lane only', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const born = added(b.tools, home(turn.lane));
      const tombstone = { memoryId: born.memory.id, textHash: 'berlin', deletedAt: { at: b.tools.now(), seq: 9 } };
      await apply(b, turn, { changes: [born], tombstones: [tombstone] });
      expect(await b.ledger.memories.tombstones(turn.lane, ['paris', 'berlin'])).toEqual([tombstone]);
      const besideIndex = { forgottenSince: b.tools.now() + 1, textHashes: ['paris', 'berlin'] };
      expect(await b.ledger.memories.unindexed(turn.lane, besideIndex)).toMatchObject({ tombstones: [tombstone] });
      expect(await b.ledger.memories.tombstones(turn.lane, ['paris'])).toEqual([]);
      expect(await b.ledger.memories.tombstones(turn.lane, [])).toEqual([]);
      const { batch } = await store(b, { scope: scope({ userId: 'bob' }), messages: [newMessage(b.tools)] });
      const { lane } = await batchOf(b, batch.id);
      expect(await b.ledger.memories.tombstones(lane, ['berlin'])).toEqual([]);
      expect(await b.ledger.memories.unindexed(lane, besideIndex)).toMatchObject({ tombstones: [] });
    });

    it('of an explicit deletion belong to the lane of the memory', async () => {
      const b = bench();
      const lane = await b.ledger.memories.laneOf(TENANT, ANN, b.tools.now());
      const born = added(b.tools, home(lane));
      await write(b, born);
      const gone = deleted(b.tools, born.memory);
      const tombstone = { memoryId: born.memory.id, textHash: 'berlin', deletedAt: { at: b.tools.now(), seq: 9 } };
      await b.ledger.memories.write(TENANT, { changes: [gone], tombstones: [tombstone], now: b.tools.now() });
      expect(await b.ledger.memories.tombstones(lane, ['berlin'])).toEqual([tombstone]);
    });

    it('of a text deleted twice block what was said before the later deletion, whichever is written last', async () => {
      const b = bench();
      const lane = await b.ledger.memories.laneOf(TENANT, ANN, b.tools.now());
      const born = added(b.tools, home(lane));
      await write(b, born);
      const deletedWhen = (at: number, seq: number) => ({
        ...{ memoryId: born.memory.id, textHash: 'berlin', deletedAt: { at, seq } },
      });
      /** Whatever else is kept of earlier ones. */
      const blockedUntil = async () => {
        const found = await b.ledger.memories.tombstones(lane, ['berlin']);
        return found
          .map(({ deletedAt }) => deletedAt)
          .sort((one, other) => one.at - other.at || one.seq - other.seq)
          .at(-1);
      };
      const now = b.tools.now();
      const [earlier, later, latest] = [deletedWhen(now, 1), deletedWhen(now, 2), deletedWhen(now + 1, 1)];
      const change = deleted(b.tools, born.memory);
      await b.ledger.memories.write(TENANT, { changes: [change], tombstones: [later, earlier], now });
      expect(await blockedUntil()).toEqual(later.deletedAt);
      const again = deleted(b.tools, change.memory);
      await b.ledger.memories.write(TENANT, { changes: [again], tombstones: [latest, later], now });
      expect(await blockedUntil()).toEqual(latest.deletedAt);
    });
  });
}

const byNumber = ({ versions }: Memory): readonly MemoryVersion[] =>
  [...versions].sort((one, other) => one.number - other.number);
