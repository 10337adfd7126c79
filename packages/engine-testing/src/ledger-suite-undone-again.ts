import type { StoredAnswer, Undo, Undoing } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, bitsOf, home, retracted, storedAnswer } from './builders.ts';
import {
  ANN,
  apply,
  type Bench,
  batchOf,
  claimedBatch,
  expectConserved,
  expectKind,
  fail,
  laneOf,
  nextTurn,
  OTHER_TENANT,
  project,
  replay,
  SECOND,
  store,
  TENANT,
} from './ledger-bench.ts';

/** Batches whose consolidation was undone, and that are consolidated again. */
export function describeUndoneAgain(bench: () => Bench): void {
  describe('an undone batch that is replayed', () => {
    it('waits again at its old position, due now, as if it had just been accepted', async () => {
      const b = bench();
      const { id, turn } = await undone(b);
      const { nudges, replayed } = await replay(b, [id]);
      expect(replayed).toEqual([id]);
      expect(nudges).toMatchObject([{ lane: turn.lane, dueAt: b.tools.now() }]);
      expect(await batchOf(b, id)).toMatchObject({
        ...{ state: 'pending', stage: 'waiting', position: 1, attempts: 0, failure: null, consolidationId: null },
        ...{ claimedAt: null, appliedAt: null, searchableAt: null },
      });
      expect(await laneOf(b)).toMatchObject({ state: 'waiting', pending: 1, dueAt: b.tools.now() });
      await expectConserved(b.ledger, TENANT);
      const later = await b.reopened();
      expect(await later.batches.get(TENANT, id)).toMatchObject({ state: 'pending', consolidationId: null });
    });

    it('is consolidated by another consolidation, before younger batches, and ends as apply says', async () => {
      const b = bench();
      const { id, turn: former } = await undone(b);
      const younger = await store(b);
      await replay(b, [id]);
      const turn = await nextTurn(b);
      expect(turn.batchIds).toEqual([id, younger.batch.id]);
      expect(turn.consolidationId).not.toBe(former.consolidationId);
      await apply(b, turn);
      await project(b);
      expect(await batchOf(b, id)).toMatchObject({ state: 'empty', consolidationId: turn.consolidationId });
      expect(await b.ledger.thoughts.get(TENANT, former.consolidationId)).toMatchObject({ state: 'undone' });
      await expectConserved(b.ledger, TENANT);
    });

    it('while its lane is consolidating, is due when that is done', async () => {
      const b = bench();
      const { id } = await undone(b);
      const { turn } = await claimedBatch(b);
      expect(await replay(b, [id])).toEqual({ replayed: [id], nudges: [] });
      expect(expectKind(await apply(b, turn), 'applied').next?.dueAt).toBe(b.tools.now());
      expect((await nextTurn(b)).batchIds).toEqual([id]);
    });

    it('was undone before the index had heard of it: it ends all the same', async () => {
      const b = bench();
      const { id } = await undone(b, { heard: false });
      await replay(b, [id]);
      await apply(b, await nextTurn(b));
      await project(b);
      expect((await batchOf(b, id)).state).toBe('empty');
    });

    it('is found by what it says only while its consolidation counts', async () => {
      const b = bench();
      const counting = async () =>
        (await b.ledger.speech.every({ after: null, limit: 10, changedSince: null })).map(({ counts }) => counts);
      const { id, turn } = await undone(b, { heard: false });
      expect(await counting()).toEqual([false]);
      await replay(b, [id]);
      expect(await counting()).toEqual([false]);
      const forgets = await b.ledger.speech.unprojected(10);
      expect(forgets).toMatchObject([{ id, counts: false, lane: turn.lane }]);
      await project(b);
      expect(await b.ledger.speech.unprojected(10)).toEqual([]);
      b.tools.advance(SECOND);
      const again = await nextTurn(b);
      expect((await b.ledger.thoughts.context(turn.lane, turn.scope, 10)).recent).toEqual([]);
      await apply(b, again, { batches: new Map([[id, 'consolidated']]) });
      expect(await counting()).toEqual([true]);
      const since = { after: null, limit: 10, changedSince: b.tools.now() };
      expect(await b.ledger.speech.every(since)).toMatchObject([{ id, changedAt: b.tools.now() }]);
      expect((await b.ledger.thoughts.context(turn.lane, turn.scope, 10)).recent).toHaveLength(1);
    });

    it('may fail, be parked and be replayed as any other', async () => {
      const b = bench();
      const { id } = await undone(b);
      await replay(b, [id]);
      expectKind(await fail(b, await nextTurn(b), { retryable: false }), 'parked');
      expect((await replay(b, [id])).replayed).toEqual([id]);
      await apply(b, await nextTurn(b));
      await expectConserved(b.ledger, TENANT);
    });

    it('is undone and replayed again, any number of times', async () => {
      const b = bench();
      const { id, turn: first } = await undone(b);
      await replay(b, [id]);
      const second = await nextTurn(b);
      await apply(b, second);
      const undo = undoOf(b, { lane: second.lane, number: 2, consolidations: [second.consolidationId] });
      expectKind(await b.ledger.undos.write(TENANT, { ...NOTHING, undo, undone: undo.consolidations }), 'written');
      expect(await batchOf(b, id)).toMatchObject({ state: 'undone', consolidationId: second.consolidationId });
      await replay(b, [id]);
      const third = await nextTurn(b);
      expect(third.batchIds).toEqual([id]);
      expect(new Set([first, second, third].map(({ consolidationId }) => consolidationId)).size).toBe(3);
    });

    it('is one of those that are asked for: others, and parked ones of a replay of undone ones, are left alone', async () => {
      const b = bench();
      const { id } = await undone(b);
      const { batch: other, turn } = await claimedBatch(b);
      expectKind(await fail(b, turn, { retryable: false }), 'parked');
      const live = { tenant: TENANT, kind: 'live', changes: {}, matched: 1, batchIds: [], idempotency: null } as const;
      const filter = { states: ['undone'] } as const;
      await b.ledger.replays.create({ ...live, id: 'rpl_1', filter, now: b.tools.now() });
      const advanced = await b.ledger.replays.advance('rpl_1', { limit: 10, now: b.tools.now() });
      expect(advanced).toMatchObject({ replayed: [id], more: false });
      expect((await batchOf(b, other.id)).state).toBe('parked');
      expect(await replay(b, [id])).toEqual({ replayed: [], nudges: [] });
    });

    it('stays undone in another tenant, where retention has emptied it, and where its owner is being erased', async () => {
      const b = bench();
      const { id } = await undone(b);
      const nothing = { replayed: [], nudges: [] };
      expect(await replay(b, [id], OTHER_TENANT)).toEqual(nothing);
      const now = b.tools.now();
      expect(await b.ledger.retention.removeMessages(TENANT, now + 1, { now, limit: 10 })).toBe(1);
      expect(await replay(b, [id])).toEqual(nothing);
      const { id: second } = await undone(b, { number: 2 });
      await b.ledger.erasures.request(TENANT, ANN, { id: 'ers_1', ownerHash: 'h', now });
      expect(await replay(b, [second])).toEqual(nothing);
      while ((await b.ledger.erasures.slice('ers_1', 100)).more);
      expect(await b.ledger.overview.batches(TENANT)).toMatchObject({ accepted: 2, erased: 2, undone: 0, pending: 0 });
    });

    it('goes with its owner, while it waits and with all it was before', async () => {
      const b = bench();
      const { id } = await undone(b);
      await replay(b, [id]);
      await b.ledger.erasures.request(TENANT, ANN, { id: 'ers_1', ownerHash: 'h', now: b.tools.now() });
      while ((await b.ledger.erasures.slice('ers_1', 100)).more);
      expect(await b.ledger.batches.get(TENANT, id)).toBeNull();
      await expectConserved(b.ledger, TENANT);
    });
  });

  describe('an undo of batches that were replayed since', () => {
    it('is not redone, neither while they wait nor when they are consolidated again', async () => {
      const b = bench();
      const { id, turn, undoing } = await undone(b);
      const { consolidationId } = turn;
      const { undos } = b.ledger;
      expect(await undos.replayed(TENANT, [consolidationId])).toEqual([]);
      await replay(b, [id]);
      const redo = redoingOf(b, undoing, consolidationId);
      for (const next of [() => nextTurn(b), () => Promise.resolve(null)]) {
        expect(await undos.replayed(TENANT, [consolidationId])).toEqual([{ batchId: id, consolidationId }]);
        expect(await undos.replayed(OTHER_TENANT, [consolidationId])).toEqual([]);
        expect(await undos.write(TENANT, redo)).toEqual({ kind: 'conflict' });
        const claimed = await next();
        if (claimed !== null) await apply(b, claimed);
      }
      expect(await undos.ofLane(turn.lane)).toEqual([undoing.undo]);
      expect(await b.ledger.thoughts.get(TENANT, consolidationId)).toMatchObject({ state: 'undone' });
    });
  });

  describe('the answers of an undone consolidation', () => {
    it('answer the same questions of the one that follows, and are paid for once', async () => {
      const b = bench();
      const [answer, other] = [storedAnswer(b.tools), storedAnswer(b.tools, { inputHash: 'input-2', step: 'decide' })];
      const { id, turn: former } = await undone(b, { answers: [answer, other] });
      await replay(b, [id]);
      const turn = await nextTurn(b);
      const { thoughts } = b.ledger;
      const known = { ...answer, former: former.consolidationId };
      expect((await thoughts.gather(turn, 0)).thought).toEqual({
        plan: null,
        answers: [],
        former: [known, { ...other, former: former.consolidationId }],
      });
      expect(await thoughts.answer(turn.consolidationId, 'extract', 'input-1')).toEqual(known);
      expect(await thoughts.answer(turn.consolidationId, 'extract', 'input-2')).toBeNull();
      expect(await thoughts.answers(turn.consolidationId)).toEqual([]);
      const before = await b.ledger.overview.usage(TENANT);
      for (let i = 0; i < 2; i += 1) expect(await thoughts.storeAnswer(turn, known)).toEqual({ kind: 'stored' });
      expect(await thoughts.answers(turn.consolidationId)).toEqual([known]);
      expect(await b.ledger.overview.usage(TENANT)).toEqual(before);
    });

    it('are those of all that went before, the newest first; an own one goes before them', async () => {
      const b = bench();
      const { id, turn: first } = await undone(b, { answers: [storedAnswer(b.tools, { text: 'first' })] });
      await replay(b, [id]);
      const second = await nextTurn(b);
      const { thoughts, undos } = b.ledger;
      await thoughts.storeAnswer(second, storedAnswer(b.tools, { text: 'second' }));
      await apply(b, second);
      const undo = undoOf(b, { lane: second.lane, number: 2, consolidations: [second.consolidationId] });
      await undos.write(TENANT, { ...NOTHING, undo, undone: undo.consolidations });
      await replay(b, [id]);
      const third = await nextTurn(b);
      const answered = async () => (await thoughts.answer(third.consolidationId, 'extract', 'input-1'))?.text;
      expect(await answered()).toBe('second');
      const { former } = (await thoughts.gather(third, 0)).thought;
      expect(former.map((one) => [one.former, one.text])).toEqual([
        [first.consolidationId, 'first'],
        [second.consolidationId, 'second'],
      ]);
      await thoughts.storeAnswer(third, storedAnswer(b.tools, { text: 'third' }));
      expect(await answered()).toBe('third');
    });

    it('are nobody else’s: a parked batch that is replayed begins anew', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      await b.ledger.thoughts.storeAnswer(turn, storedAnswer(b.tools));
      expectKind(await fail(b, turn, { retryable: false }), 'parked');
      await replay(b, [batch.id]);
      const again = await nextTurn(b);
      expect((await b.ledger.thoughts.gather(again, 0)).thought).toEqual({ plan: null, answers: [], former: [] });
    });
  });
}

interface How {
  /** Whether it was projected before it was undone. */
  readonly heard?: boolean;
  readonly answers?: readonly StoredAnswer[];
  /** Of the undo in its lane. */
  readonly number?: number;
}

/** A batch of ann that made one memory, undone. */
async function undone(b: Bench, { heard = true, answers = [], number = 1 }: How = {}) {
  const { batch, turn } = await claimedBatch(b);
  const { consolidationId, lane } = turn;
  for (const answer of answers) await b.ledger.thoughts.storeAnswer(turn, answer);
  b.tools.advance(1);
  const born = added(b.tools, home(lane), { actor: 'consolidation', consolidationId });
  await apply(b, turn, { changes: [born] });
  if (heard) await project(b);
  const undo = undoOf(b, { lane, number, consolidations: [consolidationId] });
  const changes = [retracted(b.tools, born.memory, { retracts: [1], undoId: undo.id })];
  const undoing: Undoing = { ...NOTHING, undo, changes, undone: [consolidationId] };
  expectKind(await b.ledger.undos.write(TENANT, undoing), 'written');
  if (heard) await project(b);
  return { id: batch.id, turn, undoing };
}

function redoingOf(b: Bench, { undo, changes }: Undoing, consolidation: string): Undoing {
  const redo = undoOf(b, { lane: undo.lane, number: undo.number + 1, kind: 'redo', undos: [undo.id] });
  const again = changes.map(({ memory }) =>
    retracted(b.tools, memory, { retracts: [memory.revision], undoId: redo.id }),
  );
  return { ...NOTHING, undo: redo, changes: again, redone: [consolidation] };
}

const NOTHING = { changes: [], tombstones: [], undone: [], redone: [] };

function undoOf(b: Bench, given: Pick<Undo, 'lane'> & Partial<Undo>): Undo {
  return {
    ...{ id: b.tools.id('und', bitsOf(b.tools)), tenant: TENANT, owner: ANN, number: 1, kind: 'undo', to: null },
    ...{ consolidations: [], undos: [], memories: 1, at: b.tools.now() },
    ...given,
  };
}
