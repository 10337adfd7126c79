import type { HeldOperation, Settlement, Turn } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, deleted, heldOperation, home, scope, updated, user } from './builders.ts';
import {
  ALL,
  ANN,
  apply,
  type Bench,
  batchOf,
  claim,
  claimedBatch,
  nextTurn,
  OTHER_TENANT,
  SECOND,
  store,
  TENANT,
  write,
} from './ledger-bench.ts';

export function describeReviews(bench: () => Bench): void {
  describe('operations that wait for a person', () => {
    it('begin to wait when their plan is applied, and change nothing', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      const operation = heldOperation(b.tools);
      b.tools.advance(SECOND);
      await apply(b, turn, { reviews: [operation], batches: new Map([[batch.id, 'consolidated']]) });
      const waiting = {
        id: operation.id,
        tenant: TENANT,
        lane: turn.lane,
        owner: ANN,
        scope: turn.scope,
        consolidationId: turn.consolidationId,
        operation,
        state: 'pending',
        note: null,
        createdAt: b.tools.now(),
        settledAt: null,
      };
      expect(await b.ledger.reviews.get(TENANT, operation.id)).toEqual(waiting);
      const later = await b.reopened();
      expect((await later.reviews.list(TENANT, { state: 'pending' }, ALL)).results).toEqual([waiting]);
      expect(await later.memories.get(TENANT, operation.memoryId)).toBeNull();
      expect((await batchOf(b, batch.id)).state).toBe('consolidated');
    });

    it('do not wait where the plan was not applied', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await claim(b, turn);
      expect(await apply(b, turn, { reviews: [heldOperation(b.tools)] })).toEqual({ kind: 'fenced' });
      expect((await b.ledger.reviews.list(TENANT, {}, ALL)).results).toEqual([]);
    });

    it('are listed newest first, by state, user, memory and lane, page by page', async () => {
      const b = bench();
      const [one, two] = [heldOperation(b.tools), heldOperation(b.tools)];
      await held(b, [one, two]);
      await store(b, { scope: scope({ userId: 'bob' }) });
      const bobs = heldOperation(b.tools);
      await apply(b, await nextTurn(b, { owner: user('bob') }), { reviews: [bobs] });
      await b.ledger.reviews.settle(TENANT, two.id, { state: 'rejected', now: b.tools.now() });
      const idsOf = async (filter: object) =>
        (await b.ledger.reviews.list(TENANT, filter, ALL)).results.map((review) => review.id);
      expect(await idsOf({})).toEqual([bobs.id, two.id, one.id]);
      expect(await idsOf({ state: 'pending' })).toEqual([bobs.id, one.id]);
      expect(await idsOf({ userId: 'ann' })).toEqual([two.id, one.id]);
      expect(await idsOf({ memoryId: one.memoryId })).toEqual([one.id]);
      const lane = (await b.ledger.reviews.get(TENANT, bobs.id))?.lane;
      expect(await idsOf({ lane, state: 'pending' })).toEqual([bobs.id]);
      const first = await b.ledger.reviews.list(TENANT, {}, { limit: 2, cursor: null });
      const second = await b.ledger.reviews.list(TENANT, {}, { limit: 2, cursor: first.nextCursor });
      expect([...first.results, ...second.results].map((review) => review.id)).toEqual([bobs.id, two.id, one.id]);
      expect(second.nextCursor).toBeNull();
    });

    it('change their memory when they are approved, once', async () => {
      const b = bench();
      const turn = await held(b, [heldOperation(b.tools, { id: 'rev_1' })]);
      const change = added(b.tools, home(turn.lane));
      const approval: Settlement = { state: 'approved', change, tombstones: [], now: b.tools.now() + SECOND };
      expect(await b.ledger.reviews.settle(TENANT, 'rev_1', approval)).toEqual({ kind: 'settled' });
      expect(await b.ledger.memories.get(TENANT, change.memory.id)).toEqual(change.memory);
      expect((await b.ledger.outbox.pending(10)).map((entry) => entry.memoryId)).toEqual([change.memory.id]);
      const settled = { state: 'approved', settledAt: b.tools.now() + SECOND };
      expect(await b.ledger.reviews.get(TENANT, 'rev_1')).toMatchObject(settled);
      const other = added(b.tools, home(turn.lane));
      expect(await b.ledger.reviews.settle(TENANT, 'rev_1', { ...approval, change: other })).toEqual({ kind: 'over' });
      expect(await b.ledger.memories.get(TENANT, other.memory.id)).toBeNull();
    });

    it('leave a tombstone when a deletion is approved', async () => {
      const b = bench();
      const turn = await held(b, [heldOperation(b.tools, { id: 'rev_1' })]);
      const born = added(b.tools, home(turn.lane));
      await write(b, born);
      const tombstone = { memoryId: born.memory.id, textHash: 'berlin', deletedAt: { at: b.tools.now(), seq: 9 } };
      const change = deleted(b.tools, born.memory);
      const approval: Settlement = { state: 'approved', change, tombstones: [tombstone], now: b.tools.now() };
      await b.ledger.reviews.settle(TENANT, 'rev_1', approval);
      expect(await b.ledger.memories.tombstones(turn.lane, ['berlin'])).toEqual([tombstone]);
    });

    it('go on waiting where another change came first', async () => {
      const b = bench();
      const turn = await held(b, [heldOperation(b.tools, { id: 'rev_1' })]);
      const born = added(b.tools, home(turn.lane));
      await write(b, born);
      const change = updated(b.tools, born.memory, { text: 'Lives in Rome' });
      await write(b, updated(b.tools, born.memory, { text: 'Lives in Oslo' }));
      const approval: Settlement = { state: 'approved', change, tombstones: [], now: b.tools.now() };
      const answer = await b.ledger.reviews.settle(TENANT, 'rev_1', approval);
      expect(answer).toEqual({ kind: 'conflict', memoryIds: [born.memory.id] });
      expect(await b.ledger.reviews.get(TENANT, 'rev_1')).toMatchObject({ state: 'pending', settledAt: null });
    });

    it('end as rejected or stale with nothing changed, and stay so', async () => {
      const b = bench();
      await held(b, [heldOperation(b.tools, { id: 'rev_1' }), heldOperation(b.tools, { id: 'rev_2' })]);
      const now = b.tools.now();
      const { reviews } = b.ledger;
      await reviews.settle(TENANT, 'rev_1', { state: 'rejected', now });
      await reviews.settle(TENANT, 'rev_2', { state: 'stale', note: 'gone', now });
      expect(await reviews.settle(TENANT, 'rev_1', { state: 'stale', note: 'x', now })).toEqual({ kind: 'over' });
      expect(await reviews.get(TENANT, 'rev_1')).toMatchObject({ state: 'rejected', note: null, settledAt: now });
      expect(await reviews.get(TENANT, 'rev_2')).toMatchObject({ state: 'stale', note: 'gone', settledAt: now });
      expect(await b.ledger.overview.outbox()).toBe(0);
    });

    it('are approved by one of two who do it at the same time', async () => {
      const b = bench();
      const turn = await held(b, [heldOperation(b.tools, { id: 'rev_1' })]);
      const approvals = [1, 2].map(() => ({ change: added(b.tools, home(turn.lane)), tombstones: [], now: 1 }));
      const answers = await Promise.all(
        approvals.map((approval) => b.ledger.reviews.settle(TENANT, 'rev_1', { state: 'approved', ...approval })),
      );
      expect(answers.map((answer) => answer.kind).sort()).toEqual(['over', 'settled']);
      expect(await b.ledger.overview.outbox()).toBe(1);
    });

    it('read otherwise once they are decided and rewritten, and not while they wait', async () => {
      const b = bench();
      await held(b, [heldOperation(b.tools, { id: 'rev_1' }), heldOperation(b.tools, { id: 'rev_2' })]);
      const { reviews } = b.ledger;
      await reviews.settle(TENANT, 'rev_1', { state: 'stale', note: 'gone', now: b.tools.now() });
      const read = ['rev_1', 'rev_2'].map((id) => ({
        id,
        operation: heldOperation(b.tools, { id, after: 'removed', factText: null }),
        note: 'removed',
      }));
      await reviews.rewrite(OTHER_TENANT, read);
      expect(await reviews.get(TENANT, 'rev_1')).toMatchObject({
        note: 'gone',
        operation: { after: 'Lives in Berlin' },
      });
      await reviews.rewrite(TENANT, read);
      const later = await b.reopened();
      expect(await later.reviews.get(TENANT, 'rev_1')).toMatchObject({ ...read[0], state: 'stale' });
      expect(await later.reviews.get(TENANT, 'rev_2')).toMatchObject({
        ...{ state: 'pending', note: null, operation: { after: 'Lives in Berlin' } },
      });
    });

    it('of one tenant are nothing to another', async () => {
      const b = bench();
      await held(b, [heldOperation(b.tools, { id: 'rev_1' })]);
      const { reviews } = b.ledger;
      expect(await reviews.get(OTHER_TENANT, 'rev_1')).toBeNull();
      expect((await reviews.list(OTHER_TENANT, {}, ALL)).results).toEqual([]);
      expect(await reviews.settle(OTHER_TENANT, 'rev_1', { state: 'rejected', now: 1 })).toEqual({ kind: 'over' });
      expect(await reviews.get(TENANT, 'rev_1')).toMatchObject({ state: 'pending' });
    });
  });
}

/** A consolidation of ann that only held operations back. */
async function held(b: Bench, reviews: readonly HeldOperation[]): Promise<Turn> {
  const { turn } = await claimedBatch(b);
  await apply(b, turn, { reviews });
  return turn;
}
