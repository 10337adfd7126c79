import { type LaneId, type MemoryChange, type Tombstone, UNDONE_NOTE, type Undo, type Undoing } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import {
  added,
  bitsOf,
  deleted,
  heldOperation,
  home,
  newMessage,
  retracted,
  scope,
  updated,
  user,
} from './builders.ts';
import {
  ALL,
  ANN,
  apply,
  type Bench,
  batchOf,
  claimedBatch,
  nextTurn,
  OTHER_TENANT,
  project,
  SECOND,
  store,
  TENANT,
  write,
} from './ledger-bench.ts';

export function describeUndos(bench: () => Bench): void {
  describe('an undo', () => {
    it('changes memories, their history, the consolidation and its batches, and is kept', async () => {
      const b = bench();
      const { batch, turn, born } = await applied(b);
      await project(b);
      b.tools.advance(SECOND);
      const undoing = undoingOf(b, { turn, born });
      expect(await b.ledger.undos.write(TENANT, undoing)).toEqual({ kind: 'written' });
      const [change] = undoing.changes;
      expect(change?.memory.versions).toEqual([]);
      expect(await b.ledger.memories.get(TENANT, born.memory.id)).toEqual(change?.memory);
      const { results } = await b.ledger.memories.history(TENANT, born.memory.id, ALL);
      expect(results).toEqual([...born.events, ...(change?.events ?? [])]);
      expect(await b.ledger.thoughts.get(TENANT, turn.consolidationId)).toMatchObject({ state: 'undone' });
      expect(await batchOf(b, batch.id)).toMatchObject({ state: 'undone', stage: 'done' });
      expect((await b.ledger.outbox.pending(10)).map(({ memoryId }) => memoryId)).toEqual([born.memory.id]);
      const later = await b.reopened();
      expect(await later.undos.get(TENANT, undoing.undo.id)).toEqual(undoing.undo);
      expect(await later.undos.ofLane(turn.lane)).toEqual([undoing.undo]);
      expect(await later.memories.get(TENANT, born.memory.id)).toEqual(change?.memory);
    });

    it('takes its messages out of those that others are shown with', async () => {
      const b = bench();
      const { turn, born } = await applied(b);
      const messages = [newMessage(b.tools, { content: 'I like tea' })];
      const { turn: next } = await claimedBatch(b, { messages });
      const ids = messages.map(({ id }) => id);
      const tea = added(b.tools, home(turn.lane), { text: 'Likes tea', sourceIds: ids });
      await apply(b, next, { changes: [tea] });
      const shown = async () => {
        const sources = await b.ledger.memories.sources(TENANT, tea.memory.id, { before: 9, after: 9 });
        const of = { tenant: TENANT, owner: ANN, ids };
        const around = await b.ledger.lookups.around(of, { before: 9, after: 9, appId: null });
        return [sources.length, around.get(ids[0] ?? '')?.length];
      };
      expect(await shown()).toEqual([2, 2]);
      const undoing = undoingOf(b, { turn, born });
      await b.ledger.undos.write(TENANT, undoing);
      expect(await shown()).toEqual([1, 1]);
      await b.ledger.undos.write(TENANT, redoingOf(b, undoing, turn.consolidationId));
      expect(await shown()).toEqual([2, 2]);
    });

    it('leaves a memory without versions out of lists and counts, and brings it back', async () => {
      const b = bench();
      const { batch, turn, born } = await applied(b);
      const undoing = undoingOf(b, { turn, born });
      await b.ledger.undos.write(TENANT, undoing);
      expect((await b.ledger.memories.list(TENANT, scope(), b.tools.now(), ALL)).results).toEqual([]);
      expect(await b.ledger.memories.liveIds(TENANT, scope())).toEqual([]);
      expect(await b.ledger.overview.memories(TENANT)).toEqual({ live: 0, versions: 0 });
      expect((await b.ledger.audit.orphans('memory without version')).count).toBe(0);
      const redoing = redoingOf(b, undoing, turn.consolidationId);
      expect(await b.ledger.undos.write(TENANT, redoing)).toEqual({ kind: 'written' });
      const { results } = await b.ledger.memories.list(TENANT, scope(), b.tools.now(), ALL);
      expect(results.map(({ versions }) => versions)).toEqual([born.memory.versions]);
      expect(await b.ledger.thoughts.get(TENANT, turn.consolidationId)).toMatchObject({ state: 'applied' });
      expect(await batchOf(b, batch.id)).toMatchObject({ state: 'consolidated', stage: 'done' });
      expect((await b.ledger.undos.ofLane(turn.lane)).map(({ kind }) => kind)).toEqual(['undo', 'redo']);
    });

    it('before it was projected ends the batches for good, and again after a redo', async () => {
      const b = bench();
      const { batch, turn, born } = await applied(b);
      const undoing = undoingOf(b, { turn, born });
      await b.ledger.undos.write(TENANT, undoing);
      await project(b);
      expect(await batchOf(b, batch.id)).toMatchObject({ state: 'undone', stage: 'done', searchableAt: null });
      b.tools.advance(SECOND);
      await b.ledger.undos.write(TENANT, redoingOf(b, undoing, turn.consolidationId));
      expect(await batchOf(b, batch.id)).toMatchObject({ state: 'consolidated', searchableAt: b.tools.now() });
    });

    it('gives an empty batch back as an empty one', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      await apply(b, turn);
      const undo = undoOf(b, turn.lane, { consolidations: [turn.consolidationId] });
      const nothing = { changes: [], tombstones: [], undone: [], redone: [] };
      await b.ledger.undos.write(TENANT, { ...nothing, undo, undone: [turn.consolidationId] });
      expect((await batchOf(b, batch.id)).state).toBe('undone');
      const redo = undoOf(b, turn.lane, { number: 2, kind: 'redo', undos: [undo.id] });
      await b.ledger.undos.write(TENANT, { ...nothing, undo: redo, redone: [turn.consolidationId] });
      expect((await batchOf(b, batch.id)).state).toBe('empty');
    });

    it('lets what was deleted block no longer, and again after a redo', async () => {
      const b = bench();
      const { turn, born } = await applied(b);
      const gone = deleted(b.tools, born.memory);
      const tombstone = { memoryId: born.memory.id, textHash: 'berlin', deletedAt: { at: b.tools.now(), seq: 9 } };
      await b.ledger.memories.write(TENANT, { changes: [gone], tombstones: [tombstone], now: b.tools.now() });
      const back = retracted(b.tools, gone.memory, { retracts: [2] });
      const undoing = { ...undoingOf(b, { turn, born }), changes: [back], undone: [] };
      await b.ledger.undos.write(TENANT, undoing);
      expect(await b.ledger.memories.tombstones(turn.lane, ['berlin'])).toEqual([]);
      const redoing = { ...redoingOf(b, undoing, turn.consolidationId), redone: [], tombstones: [tombstone] };
      await b.ledger.undos.write(TENANT, redoing);
      expect(await b.ledger.memories.tombstones(turn.lane, ['berlin'])).toEqual([tombstone]);
    });

    it('makes what waits for a person stale, and lets it wait again after a redo', async () => {
      const b = bench();
      const [waiting, rejected] = [heldOperation(b.tools), heldOperation(b.tools)];
      const { turn, born } = await applied(b, [waiting, rejected]);
      await b.ledger.reviews.settle(TENANT, rejected.id, { state: 'rejected', now: b.tools.now() });
      const undoing = undoingOf(b, { turn, born });
      await b.ledger.undos.write(TENANT, undoing);
      const review = () => b.ledger.reviews.get(TENANT, waiting.id);
      expect(await review()).toMatchObject({ state: 'stale', note: UNDONE_NOTE, settledAt: b.tools.now() });
      await b.ledger.undos.write(TENANT, redoingOf(b, undoing, turn.consolidationId));
      expect(await review()).toMatchObject({ state: 'pending', note: null, settledAt: null });
      expect(await b.ledger.reviews.get(TENANT, rejected.id)).toMatchObject({ state: 'rejected' });
    });

    it('takes the messages of its batches out of the context of later ones', async () => {
      const b = bench();
      const { turn, born } = await applied(b);
      const context = () => b.ledger.thoughts.context(turn.lane, turn.scope, 10);
      expect((await context()).recent).toHaveLength(1);
      await b.ledger.undos.write(TENANT, undoingOf(b, { turn, born }));
      expect((await context()).recent).toEqual([]);
    });
  });

  describe('an undo is refused as a whole', () => {
    it('when its owner is being erased, and goes with the owner', async () => {
      const b = bench();
      const { turn, born } = await applied(b);
      const undoing = undoingOf(b, { turn, born });
      await b.ledger.undos.write(TENANT, undoing);
      const { erasures, undos } = b.ledger;
      await erasures.request(TENANT, ANN, { id: 'ers_1', ownerHash: 'h', now: b.tools.now() });
      const late = { ...undoingOf(b, { turn, born }), changes: [], undone: [] };
      expect(await undos.write(TENANT, { ...late, undo: { ...late.undo, number: 2 } })).toEqual({ kind: 'conflict' });
      while ((await erasures.slice('ers_1', 100)).more);
      await erasures.forgetOwner('ers_1');
      expect(await undos.get(TENANT, undoing.undo.id)).toBeNull();
    });

    it('when a memory has changed since', async () => {
      const b = bench();
      const { batch, turn, born } = await applied(b);
      const undoing = undoingOf(b, { turn, born });
      await write(b, updated(b.tools, born.memory, { text: 'Lives in Oslo' }));
      await expectRefused(b, undoing);
      expect((await batchOf(b, batch.id)).state).not.toBe('undone');
    });

    it('when another undo of the lane came first', async () => {
      const b = bench();
      const { turn, born } = await applied(b);
      const both = [1, 2].map(() => ({ ...undoingOf(b, { turn, born }), changes: [], undone: [] }));
      const answers = await Promise.all(both.map((undoing) => b.ledger.undos.write(TENANT, undoing)));
      expect(answers.map(({ kind }) => kind).sort()).toEqual(['conflict', 'written']);
    });

    it('when the consolidation has changed more than what is undone', async () => {
      const b = bench();
      const { turn, born } = await applied(b);
      await expectRefused(b, { ...undoingOf(b, { turn, born }), changes: [] });
    });
  });

  describe('what an undo is decided on', () => {
    it('is what happened to the memories of a consolidation, of an undo, or of a lane since a time', async () => {
      const b = bench();
      const { turn, born } = await applied(b);
      const own = added(b.tools, home(turn.lane));
      b.tools.advance(SECOND);
      const at = b.tools.now();
      await write(b, own);
      const { undos } = b.ledger;
      const consolidations = [turn.consolidationId];
      expect(await undos.touched(TENANT, { consolidations })).toEqual([born.memory.id]);
      expect(await undos.touched(TENANT, { lane: turn.lane, after: at - 1 })).toEqual([]);
      b.tools.advance(SECOND);
      const later = updated(b.tools, own.memory);
      await write(b, later);
      expect(await undos.touched(TENANT, { lane: turn.lane, after: at })).toEqual([own.memory.id]);
      const all = await undos.events(TENANT, [own.memory.id]);
      expect(all).toEqual([...own.events, ...later.events]);
      await undos.write(TENANT, undoingOf(b, { turn, born }, 'und_7'));
      expect(await undos.touched(TENANT, { undo: 'und_7' })).toEqual([born.memory.id]);
      expect(await undos.appliedAfter(turn.lane, turn.claimedAt - 1)).toEqual(consolidations);
      expect(await undos.appliedAfter(turn.lane, b.tools.now())).toEqual([]);
    });

    it('belongs to one tenant', async () => {
      const b = bench();
      const { turn, born } = await applied(b);
      const undoing = undoingOf(b, { turn, born }, 'und_7');
      const { undos } = b.ledger;
      expect(await undos.write(OTHER_TENANT, undoing)).toEqual({ kind: 'conflict' });
      await undos.write(TENANT, undoing);
      expect(await undos.get(OTHER_TENANT, 'und_7')).toBeNull();
      expect((await undos.list(OTHER_TENANT, {}, ALL)).results).toEqual([]);
      expect(await undos.touched(OTHER_TENANT, { consolidations: [turn.consolidationId] })).toEqual([]);
      expect(await undos.touched(OTHER_TENANT, { undo: 'und_7' })).toEqual([]);
      expect(await undos.touched(OTHER_TENANT, { lane: turn.lane, after: 0 })).toEqual([]);
      expect(await undos.events(OTHER_TENANT, [born.memory.id])).toEqual([]);
    });

    it('is listed newest first, by user, page by page', async () => {
      const b = bench();
      const { turn } = await applied(b);
      await store(b, { scope: scope({ userId: 'bob' }) });
      const bobs = await nextTurn(b, { owner: user('bob') });
      const nothing = { changes: [], tombstones: [], undone: [], redone: [] };
      const undos = [
        undoOf(b, turn.lane, { number: 1 }),
        undoOf(b, turn.lane, { number: 2, kind: 'rollback', to: 5 }),
        undoOf(b, bobs.lane, { number: 1, owner: user('bob') }),
      ];
      for (const undo of undos) {
        b.tools.advance(SECOND);
        await b.ledger.undos.write(TENANT, { ...nothing, undo: { ...undo, at: b.tools.now() } });
      }
      const ids = undos.map(({ id }) => id);
      const listed = async (filter: object, page: { limit: number; cursor: string | null } = ALL) => {
        const { results, nextCursor } = await b.ledger.undos.list(TENANT, filter, page);
        return { ids: results.map(({ id }) => id), nextCursor };
      };
      expect((await listed({})).ids).toEqual(ids.toReversed());
      expect((await listed({ userId: 'ann' })).ids).toEqual([ids[1], ids[0]]);
      const first = await listed({}, { limit: 2, cursor: null });
      expect(first.ids).toEqual([ids[2], ids[1]]);
      expect((await listed({}, { limit: 2, cursor: first.nextCursor })).ids).toEqual([ids[0]]);
    });
  });
}

/** A consolidation of ann that made one memory. */
async function applied(b: Bench, reviews: readonly ReturnType<typeof heldOperation>[] = []) {
  const { batch, turn } = await claimedBatch(b);
  const { consolidationId, lane } = turn;
  b.tools.advance(1);
  const born = added(b.tools, home(lane), { actor: 'consolidation', consolidationId });
  await apply(b, turn, { changes: [born], reviews });
  return { batch, turn, born };
}

export const undoOf = (b: Bench, lane: LaneId, given: Partial<Undo> = {}): Undo => ({
  id: b.tools.id('und', bitsOf(b.tools)),
  tenant: TENANT,
  lane,
  owner: ANN,
  number: 1,
  kind: 'undo',
  to: null,
  consolidations: [],
  undos: [],
  memories: 1,
  at: b.tools.now(),
  ...given,
});

/** Takes back all that a consolidation said of a memory. */
function undoingOf(
  b: Bench,
  { turn, born }: { turn: { lane: LaneId; consolidationId: string }; born: MemoryChange },
  id = b.tools.id('und', bitsOf(b.tools)),
): Undoing {
  const undone = [turn.consolidationId];
  const undo = undoOf(b, turn.lane, { id, consolidations: undone });
  return {
    undo,
    changes: [retracted(b.tools, born.memory, { retracts: [1], undoId: id })],
    tombstones: [],
    undone,
    redone: [],
  };
}

function redoingOf(b: Bench, { undo, changes }: Undoing, consolidation: string): Undoing {
  const redo = undoOf(b, undo.lane, { number: undo.number + 1, kind: 'redo', undos: [undo.id] });
  const again = changes.map(({ memory }) =>
    retracted(b.tools, memory, { retracts: [memory.revision], undoId: redo.id }),
  );
  const tombstones: Tombstone[] = [];
  return { undo: redo, changes: again, tombstones, undone: [], redone: [consolidation] };
}

/** Nothing of it is written. */
async function expectRefused(b: Bench, undoing: Undoing): Promise<void> {
  const before = await b.ledger.memories.every(null, ALL.limit);
  expect(await b.ledger.undos.write(TENANT, undoing)).toEqual({ kind: 'conflict' });
  expect(await b.ledger.memories.every(null, ALL.limit)).toEqual(before);
  expect(await b.ledger.undos.get(TENANT, undoing.undo.id)).toBeNull();
}
