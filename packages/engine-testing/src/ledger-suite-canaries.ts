import { type Canary, type NewCanary, NOTHING_SPENT, type Turn, type Undoing } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, bitsOf, home, retracted } from './builders.ts';
import {
  ALL,
  ANN,
  apply,
  type Bench,
  batchOf,
  claim,
  claimedBatch,
  expectConserved,
  expectKind,
  expectThere,
  fail,
  laneOf,
  MINUTE,
  nextTurn,
  OTHER_TENANT,
  SECOND,
  store,
  TENANT,
} from './ledger-bench.ts';
import { create as createWebhook, notices } from './ledger-bench-webhooks.ts';

/** Changes that are rolled out owner by owner, and taken back. */
export function describeCanaries(bench: () => Bench): void {
  describe('a canary', () => {
    it('has its tenant to itself until it is over, and is kept as it was asked for', async () => {
      const b = bench();
      const { id } = await started(b);
      expect(await b.ledger.canaries.create(newCanary(b))).toBe(false);
      expect(await b.ledger.canaries.create(newCanary(b, { tenant: OTHER_TENANT }))).toBe(true);
      expect(await b.ledger.canaries.get(OTHER_TENANT, id)).toBeNull();
      expect(await canaryOf(b, id)).toMatchObject({
        ...{ tenant: TENANT, state: 'running', changes: { model: 'other' }, step: 0, bounds: { heard: 0.1 } },
        ...{ undo: 'automatic', budget: BUDGET, watched: null, halt: null, waiting: null, finishedAt: null },
      });
      const over = { from: 'running', to: 'stopped', dueAt: null, finishedAt: b.tools.now() } as const;
      expect(await b.ledger.canaries.move(id, { ...over, from: 'halted' })).toBe(false);
      expect(await b.ledger.canaries.move(id, over)).toBe(true);
      b.tools.advance(SECOND);
      const second = await started(b);
      const again = { from: 'stopped', to: 'undoing', dueAt: 0, finishedAt: null } as const;
      expect(await b.ledger.canaries.move(id, again), 'another one is open').toBe(false);
      const { results } = await b.ledger.canaries.list(TENANT, ALL);
      expect(results.map((one) => one.id)).toEqual([second.id, id]);
    });

    it('is worked on by one at a time, and moves with what is said of it', async () => {
      const b = bench();
      const { id } = await started(b);
      const now = b.tools.now();
      expect((await b.ledger.canaries.take(now, now + MINUTE))?.id).toBe(id);
      expect(await b.ledger.canaries.take(now, now + MINUTE)).toBeNull();
      const halt = { code: 'heard', message: 'heard is 0.1', at: now };
      await createWebhook(b, { events: ['canary.halted'] });
      const news = { type: 'canary.halted', at: now, data: { canary_id: id } } as const;
      const move = { from: 'running', to: 'halted', dueAt: now, halt } as const;
      const seen = { ...move, watched: { figures: [] } };
      expect(await b.ledger.canaries.move(id, seen, news)).toBe(true);
      expect(await b.ledger.canaries.move(id, move, news)).toBe(false);
      expect(await canaryOf(b, id)).toMatchObject({ state: 'halted', halt, watched: { figures: [] } });
      expect(await notices(b)).toMatchObject([{ type: 'canary.halted', data: { canary_id: id } }]);
      await b.ledger.canaries.move(id, { from: 'halted', to: 'undoing', dueAt: null, waiting: halt });
      await b.ledger.canaries.move(id, { from: 'undoing', to: 'undoing', dueAt: null, step: { number: 1, at: 9 } });
      expect(await canaryOf(b, id)).toMatchObject({ waiting: halt, step: 1, stepAt: 9, finishedAt: null });
      await b.ledger.canaries.move(id, { from: 'undoing', to: 'undone', dueAt: null, waiting: null, finishedAt: now });
      expect(await canaryOf(b, id)).toMatchObject({ state: 'undone', waiting: null, finishedAt: now });
    });
  });

  describe('a window', () => {
    it('is pinned with the changes for the owners in the share, and stays so in every try', async () => {
      const b = bench();
      expect((await claimedBatch(b)).turn.variant).toBeNull();
      await fail(b, await nextTurn(b), { retryable: false });
      const none = await started(b, { share: 0.000001 });
      expect((await claimedBatch(b)).turn.variant).toBeNull();
      await fail(b, await nextTurn(b), { retryable: false });
      await over(b, none);
      const { id } = await started(b);
      const { turn } = await claimedBatch(b);
      expect(turn.variant).toBe(id);
      await over(b, { id });
      const again = await nextTurn(b);
      expect(again).toMatchObject({ variant: id, consolidationId: turn.consolidationId });
      expect(await b.ledger.thoughts.get(TENANT, turn.consolidationId)).toMatchObject({ variant: id });
      await apply(b, again);
      expect((await claimedBatch(b)).turn.variant, 'the canary is over').toBeNull();
    });

    it('of another tenant is none of its', async () => {
      const b = bench();
      await started(b, { tenant: OTHER_TENANT });
      expect((await claimedBatch(b)).turn.variant).toBeNull();
    });

    it('is watched once it has ended, with the changes or without', async () => {
      const b = bench();
      await apply(b, (await claimedBatch(b)).turn);
      b.tools.advance(SECOND);
      const { id } = await started(b);
      const since = b.tools.now();
      const { turn } = await claimedBatch(b);
      const watched = (canary: string | null, from = 0, until = b.tools.now() + 1) =>
        b.ledger.canaries.watched(TENANT, canary, { since: from, until, limit: 10 });
      expect(await watched(id), 'it is still being thought').toEqual([]);
      const stuck = (before: number) => b.ledger.canaries.stuck(TENANT, id, before);
      expect(await stuck(b.tools.now() + 1)).toEqual({ canary: 1, rest: 0 });
      expect(await stuck(b.tools.now())).toEqual({ canary: 0, rest: 0 });
      expect(await b.ledger.canaries.stuck(TENANT, 'cny_other', b.tools.now() + 1)).toEqual({ canary: 0, rest: 0 });
      await apply(b, turn);
      expect(await watched(id)).toEqual([{ id: turn.consolidationId, lane: turn.lane, batchIds: turn.batchIds }]);
      expect(await watched(null)).toHaveLength(1);
      expect(await watched(null, since)).toEqual([]);
      expect(await watched(id, 0, since)).toEqual([]);
      expect(await b.ledger.canaries.appliedSince(id, since)).toBe(1);
      expect(await b.ledger.canaries.appliedSince(id, b.tools.now() + 1)).toBe(0);
      expect(await b.ledger.canaries.reach(TENANT, id)).toEqual({ owners: 1, touched: 1 });
    });
  });

  describe('a lane that is held', () => {
    it('is claimed by nobody, and whoever works on it writes no more', async () => {
      const b = bench();
      const { id } = await started(b);
      const { batch, turn } = await claimedBatch(b);
      expect(await b.ledger.canaries.counts()).toEqual({ open: { running: 1 }, held: 0 });
      expect(await hold(b, id)).toEqual([turn.lane]);
      expect(await hold(b, id)).toEqual([]);
      expect(await b.ledger.canaries.counts()).toEqual({ open: { running: 1 }, held: 1 });
      expect((await apply(b, turn)).kind).toBe('fenced');
      const lane = await laneOf(b);
      expect(lane).toMatchObject({ state: 'waiting', pending: 1 });
      expect(await claim(b, { lane: lane.id, generation: lane.generation })).toEqual({ kind: 'stale' });
      await store(b);
      b.tools.advance(60 * MINUTE);
      expect(await b.ledger.lanes.due(b.tools.now(), 10)).toEqual([]);
      expect(await b.ledger.lanes.withWork(null, 10)).toEqual([]);
      expect(await b.ledger.lanes.lateTenants(b.tools.now(), 1)).toEqual([]);
      expect(await batchOf(b, batch.id)).toMatchObject({ state: 'pending', consolidationId: null });
      await expectConserved(b.ledger, TENANT);
      await over(b, { id });
      expect(await b.ledger.canaries.letGo('cny_other', lane.id, { state: null, now: b.tools.now() })).toBeNull();
      expect(await b.ledger.canaries.letGo(id, lane.id, { state: null, now: b.tools.now() })).toMatchObject({
        lane: lane.id,
      });
      expect((await nextTurn(b)).variant).toBeNull();
      expect(await b.ledger.canaries.lanes(id, { limit: 10 }), 'nothing of it was undone').toEqual([]);
    });

    it('is held for what is under way alone where that is asked for', async () => {
      const b = bench();
      const { id } = await started(b);
      await apply(b, (await claimedBatch(b)).turn);
      expect(await hold(b, id, true)).toEqual([]);
      await claimedBatch(b);
      expect(await hold(b, id, true)).toHaveLength(1);
      expect(
        await b.ledger.canaries.letGo(id, (await laneOf(b)).id, { state: null, now: b.tools.now() }),
      ).not.toBeNull();
    });
  });

  describe('what a canary did', () => {
    it('is undone with all that came after, newest first, and waits again before what is new', async () => {
      const b = bench();
      const before = await remembered(b);
      const { id } = await started(b);
      const first = await remembered(b);
      await over(b, { id }, { from: 'running', to: 'halted' });
      const second = await remembered(b);
      const lane = (await laneOf(b)).id;
      await hold(b, id);
      const fresh = await store(b);
      expect(await b.ledger.canaries.touched(id, { after: null, limit: 10 })).toEqual([lane]);
      const work = await b.ledger.canaries.work(id, lane, 10);
      expect(work.consolidations.map((one) => one.id)).toEqual([second.id, first.id]);
      expect(work.consolidations.map((one) => one.batchIds)).toEqual([second.batchIds, first.batchIds]);
      expect((await b.ledger.canaries.work(id, lane, 1)).consolidations).toHaveLength(1);
      const undoing = undoingOf(b, first.turn, { number: 1, undone: [second, first] });
      expect((await b.ledger.canaries.takeBack('cny_other', undoing, SPENT)).kind).toBe('conflict');
      expect((await b.ledger.canaries.takeBack(id, undoing, SPENT)).kind).toBe('written');
      expect((await b.ledger.canaries.work(id, lane, 10)).consolidations).toEqual([]);
      expect(await b.ledger.canaries.lanes(id, { state: 'held', limit: 10 })).toEqual([
        { lane, state: 'held', consolidations: 2, batches: 2, expected: SPENT, used: NOTHING_SPENT },
      ]);
      expect(await b.ledger.thoughts.get(TENANT, before.id)).toMatchObject({ state: 'applied' });
      expect(await b.ledger.canaries.again(id, lane)).toEqual({ open: 2, consolidations: [] });
      await b.ledger.canaries.letGo(id, lane, { state: 'replayed', now: b.tools.now() });
      const again: string[] = [];
      for (const batchIds of [first.batchIds, second.batchIds, [fresh.batch.id]]) {
        const turn = await nextTurn(b);
        expect(turn.batchIds, 'in the windows that they had').toEqual(batchIds);
        expect(turn.variant).toBeNull();
        await apply(b, turn);
        again.push(turn.consolidationId);
      }
      const { open, consolidations } = await b.ledger.canaries.again(id, lane);
      expect({ open, consolidations: [...consolidations].sort() }).toEqual({
        open: 0,
        consolidations: again.slice(0, 2).sort(),
      });
      await b.ledger.canaries.mark(id, lane, { state: 'done', used: SPENT });
      expect(await b.ledger.canaries.lanes(id, { limit: 10 })).toMatchObject([{ state: 'done', used: SPENT }]);
      expect(await hold(b, id), 'it is done with').toEqual([]);
      await expectConserved(b.ledger, TENANT);
    });

    it('lets what was parked with its changes wait again, in the windows that it had', async () => {
      const b = bench();
      const { id } = await started(b);
      const { batch, turn } = await claimedBatch(b);
      await fail(b, turn, { retryable: false });
      const { batch: second, turn: later } = await claimedBatch(b);
      await fail(b, later, { retryable: false });
      await over(b, { id }, { from: 'running', to: 'halted' });
      await hold(b, id);
      const parked = [batch.id, second.id];
      expect(await b.ledger.canaries.work(id, turn.lane, 10)).toEqual({ consolidations: [], parked });
      await b.ledger.canaries.replay('cny_other', turn.lane, { batchIds: [batch.id], now: b.tools.now() });
      expect((await batchOf(b, batch.id)).state).toBe('parked');
      await b.ledger.canaries.replay(id, turn.lane, { batchIds: parked, now: b.tools.now() });
      expect((await batchOf(b, batch.id)).state).toBe('pending');
      expect((await b.ledger.canaries.work(id, turn.lane, 10)).parked).toEqual([]);
      expect(await b.ledger.canaries.lanes(id, { limit: 10 })).toMatchObject([{ batches: 2, consolidations: 0 }]);
      expect(await b.ledger.canaries.again(id, turn.lane), 'the undo is not over before').toMatchObject({ open: 2 });
      await b.ledger.canaries.letGo(id, turn.lane, { state: 'replayed', now: b.tools.now() });
      expect((await nextTurn(b)).batchIds).toEqual([batch.id]);
    });

    it('keeps what a person approved of it, if the undo says so', async () => {
      const b = bench();
      const { id } = await started(b);
      const first = await remembered(b, 'review');
      await over(b, { id }, { from: 'running', to: 'halted' });
      await hold(b, id);
      const { keepsReviews: _, ...all } = undoingOf(b, first.turn, { number: 1, undone: [first], keeps: true });
      expect((await b.ledger.canaries.takeBack(id, all, SPENT)).kind).toBe('conflict');
      expect((await b.ledger.canaries.takeBack(id, { ...all, keepsReviews: true }, SPENT)).kind).toBe('written');
      expect(await b.ledger.memories.get(TENANT, first.change.memory.id)).toMatchObject({ revision: 1 });
    });

    it('is forgotten with its owner', async () => {
      const b = bench();
      const { id } = await started(b);
      const { turn } = await claimedBatch(b);
      await hold(b, id);
      await b.ledger.canaries.letGo(id, turn.lane, { state: null, now: b.tools.now() });
      await nextTurn(b);
      const request = { id: b.tools.id('ers'), ownerHash: 'hash', now: b.tools.now() };
      const erasure = await b.ledger.erasures.request(TENANT, ANN, request);
      expect(await hold(b, id), 'its lane is cut off').toEqual([]);
      while ((await b.ledger.erasures.slice(erasure.id, 100)).more);
      await b.ledger.erasures.forgetOwner(erasure.id);
      expect(await b.ledger.canaries.lanes(id, { limit: 10 })).toEqual([]);
      expect(await b.ledger.lanes.get(turn.lane)).toBeNull();
      expect(await canaryOf(b, id)).toMatchObject({ state: 'running' });
    });
  });
}

const BUDGET = { calls: 10, tokens: null, cost: 2.5 };
const SPENT = { calls: 2, tokens: 100, cost: null };

interface Asked {
  readonly share?: number;
  readonly tenant?: NewCanary['tenant'];
}

const newCanary = ({ tools }: Bench, { share = 100, tenant = TENANT }: Asked = {}): NewCanary => ({
  ...{ id: tools.id('cny'), tenant, changes: { model: 'other' }, bounds: { heard: 0.1 } },
  steps: [
    { share, minMs: MINUTE, minConsolidations: 3 },
    { share: 100, minMs: 0, minConsolidations: 0 },
  ],
  ...{ undo: 'automatic', budget: BUDGET, createdAt: tools.now() },
});

export async function started(b: Bench, asked: Asked = {}): Promise<NewCanary> {
  const canary = newCanary(b, asked);
  expect(await b.ledger.canaries.create(canary)).toBe(true);
  return canary;
}

const canaryOf = async ({ ledger }: Bench, id: string): Promise<Canary> =>
  expectThere(await ledger.canaries.get(TENANT, id));

async function over(
  { ledger, tools }: Bench,
  { id }: Pick<Canary, 'id'>,
  move: { from: 'running'; to: 'halted' | 'stopped' } = { from: 'running', to: 'stopped' },
): Promise<void> {
  const finishedAt = move.to === 'stopped' ? { finishedAt: tools.now() } : {};
  expect(await ledger.canaries.move(id, { ...move, dueAt: null, ...finishedAt })).toBe(true);
}

const hold = ({ ledger, tools }: Bench, id: string, pinned = false) =>
  ledger.canaries.hold(id, { pinned, limit: 10, now: tools.now() });

/** A consolidation that has made one memory. */
async function remembered(b: Bench, actor: 'consolidation' | 'review' = 'consolidation') {
  const { turn } = await claimedBatch(b);
  const change = added(b.tools, home(turn.lane), { consolidationId: turn.consolidationId, actor });
  expectKind(await apply(b, turn, { changes: [change] }), 'applied');
  b.tools.advance(SECOND);
  return { id: turn.consolidationId, batchIds: turn.batchIds, turn, change };
}

interface Undone {
  readonly number: number;
  readonly undone: readonly Awaited<ReturnType<typeof remembered>>[];
  /** Nothing of what it changed is taken back. */
  readonly keeps?: boolean;
}

function undoingOf(b: Bench, turn: Turn, { number, undone, keeps = false }: Undone): Undoing {
  const id = b.tools.id('und', bitsOf(b.tools));
  const consolidations = undone.map((one) => one.id);
  const changes = keeps
    ? []
    : undone.map(({ change }) => retracted(b.tools, change.memory, { undoId: id, retracts: [1] }));
  return {
    undo: {
      ...{ id, tenant: TENANT, lane: turn.lane, owner: turn.owner, number, kind: 'undo', to: null },
      ...{ consolidations, undos: [], memories: changes.length, at: b.tools.now() },
    },
    ...{ changes, tombstones: [], undone: consolidations, redone: [], keepsReviews: true },
  };
}
