import type { LaneId, Undo, Undoing } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { claimStudy, graphPlan, heldStudy, relationsOf, say, studied, toStudy } from './graph-bench.ts';
import { statementsBy } from './graph-statements.ts';
import { ANN, type Bench, expectKind, SECOND, TENANT } from './ledger-bench.ts';

/** What is taken back of a graph, and what comes back. */
export function describeGraphUndos(bench: () => Bench): void {
  describe('a graph, when something is undone', () => {
    it('is as if its consolidation had said nothing, and as before when that is taken back', async () => {
      const b = bench();
      const { holds, named } = statementsBy(b.tools);
      const single = { single: true };
      const first = await studied(b, [holds('Ana lives_in Rome', single)]);
      b.tools.advance(SECOND);
      const second = await studied(b, [holds('Ana lives_in Oslo', single), named('Ana', 'Annie')]);
      const { lane } = first;
      const before = await everything(b, lane);
      await undo(b, lane, { undone: [second.consolidationId] });
      expect(await relationsOf(b, lane)).toEqual(['Ana lives_in Rome']);
      expect(await b.ledger.graph.named(lane, ['annie', 'oslo'])).toEqual([]);
      const uncounted = await b.ledger.graph.statements(lane, { entities: ['Oslo'] });
      expect(uncounted.map(({ counts }) => counts)).toEqual([false]);
      await redo(b, lane, { number: 1, redone: [second.consolidationId] });
      expect(await everything(b, lane)).toEqual(before);
    });

    it('projects what counts no longer, and what counts again', async () => {
      const b = bench();
      const { holds } = statementsBy(b.tools);
      const turn = await studied(b, [holds('Ana likes tea')]);
      const { lane, consolidationId } = turn;
      await projectAll(b);
      await undo(b, lane, { undone: [consolidationId] });
      const gone = await b.ledger.graph.unprojectedOf(lane, 10);
      expect(gone).toHaveLength(3);
      for (const one of gone) {
        expect(one.kind === 'entity' ? one.entity : one.relation).toMatchObject({ counts: false, revision: 2 });
      }
      await redo(b, lane, { number: 1, redone: [consolidationId] });
      for (const one of await b.ledger.graph.unprojected(10)) {
        expect(one.kind === 'entity' ? one.entity : one.relation).toMatchObject({ counts: true, revision: 3 });
      }
    });

    it('keeps what others said of the same', async () => {
      const b = bench();
      const { holds, same } = statementsBy(b.tools);
      const first = await studied(b, [holds('Ana likes tea')]);
      const second = await studied(b, [holds('Ana likes tea'), holds('Annie likes jazz'), same('Annie', 'Ana')]);
      const third = await studied(b, [holds('Annie likes rain')]);
      const { lane } = first;
      expect(await relationsOf(b, lane)).toEqual(['Ana likes tea', 'Ana likes jazz', 'Ana likes rain']);
      await undo(b, lane, { undone: [second.consolidationId] });
      expect(await relationsOf(b, lane)).toEqual(['Ana likes tea', 'Annie likes rain']);
      await undo(b, lane, { number: 2, undone: [first.consolidationId, third.consolidationId] });
      expect(await relationsOf(b, lane)).toEqual([]);
    });

    it('makes no study of it meanwhile, and stops the one under way', async () => {
      const b = bench();
      const { holds } = statementsBy(b.tools);
      const turn = await toStudy(b);
      const { lane, consolidationId } = turn;
      const study = await heldStudy(b, lane);
      await undo(b, lane, { undone: [consolidationId] });
      const plan = graphPlan(consolidationId, [holds('Ana likes tea')]);
      const { graph } = b.ledger;
      expect(await graph.apply(study, plan, b.tools.now())).toEqual({ kind: 'fenced' });
      expect(await claimStudy(b, lane)).toEqual({ kind: 'none' });
      expect(await graph.due(b.tools.now(), 10)).toEqual([]);
      expect(await graph.counts()).toEqual({ pending: 0, parked: 0 });
      await redo(b, lane, { number: 1, redone: [consolidationId] });
      expect(await graph.apply(study, plan, b.tools.now())).toEqual({ kind: 'fenced' });
      const again = await heldStudy(b, lane);
      expectKind(await graph.apply(again, plan, b.tools.now()), 'applied');
    });

    it('is rolled back to a time with what was written explicitly since, and forward again', async () => {
      const b = bench();
      const { holds, apart } = statementsBy(b.tools);
      const turn = await studied(b, [holds('Ana likes tea')]);
      const { lane } = turn;
      await say(b, lane, [holds('Ana likes jazz')]);
      const to = b.tools.now();
      b.tools.advance(SECOND);
      await say(b, lane, [holds('Ana likes rain'), apart('tea')]);
      const before = await everything(b, lane);
      expect(await b.ledger.graph.writtenAfter(lane, to)).toBe(2);
      await undo(b, lane, { kind: 'rollback', to });
      expect(await relationsOf(b, lane)).toEqual(['Ana likes tea', 'Ana likes jazz']);
      expect(await b.ledger.graph.writtenAfter(lane, to)).toBe(0);
      await say(b, lane, [holds('Ana likes snow')]);
      expect(await relationsOf(b, lane)).toEqual(['Ana likes tea', 'Ana likes jazz', 'Ana likes snow']);
      await undo(b, lane, { number: 2, undone: [turn.consolidationId] });
      expect(await relationsOf(b, lane)).toEqual(['Ana likes jazz', 'Ana likes snow']);
      await redo(b, lane, { number: 2, redone: [turn.consolidationId], named: 'und_2' });
      await redo(b, lane, { number: 3, redone: [], named: 'und_1' });
      expect(await everything(b, lane)).toEqual(expect.arrayContaining([...before]));
      expect(await relationsOf(b, lane)).toHaveLength(4);
    });
  });
}

async function projectAll(b: Bench): Promise<void> {
  const items = await b.ledger.graph.unprojected(100);
  await b.ledger.graph.projected(
    items.map((one) => {
      const { id, revision } = one.kind === 'entity' ? one.entity : one.relation;
      return { kind: one.kind, id, revision };
    }),
  );
}

/** All that follows, but for revisions and times of change. */
async function everything(b: Bench, lane: LaneId): Promise<readonly object[]> {
  const { graph } = b.ledger;
  const page = { limit: 100, cursor: null };
  const { results: entities } = await graph.listEntities(TENANT, ANN, {}, page);
  const around = await graph.around(lane, { entities: entities.map(({ id }) => id), at: 'ever', limit: 100 });
  const plain = around.map(({ revision: _, updatedAt: __, ...relation }) => relation);
  return [...entities.map(({ revision: _, ...entity }) => entity), ...plain];
}

interface TakingBack extends Partial<Pick<Undo, 'kind' | 'to' | 'number'>> {
  readonly undone?: readonly string[];
}

const undo = (b: Bench, lane: LaneId, { number = 1, kind = 'undo', to = null, undone = [] }: TakingBack) =>
  write(b, {
    ...{ changes: [], tombstones: [], undone, redone: [] },
    undo: undoOf(b, lane, { id: `und_${number}`, number, kind, to, consolidations: undone }),
  });

/** Takes an undo back; `number` is that of the last one so far. */
const redo = (b: Bench, lane: LaneId, of: { number: number; redone: readonly string[]; named?: string }) =>
  write(b, {
    ...{ changes: [], tombstones: [], undone: [], redone: of.redone },
    undo: undoOf(b, lane, {
      ...{ id: `und_${of.number + 1}`, number: of.number + 1, kind: 'redo' },
      undos: [of.named ?? `und_${of.number}`],
    }),
  });

async function write(b: Bench, undoing: Undoing): Promise<void> {
  b.tools.advance(SECOND);
  const at = b.tools.now();
  expectKind(await b.ledger.undos.write(TENANT, { ...undoing, undo: { ...undoing.undo, at } }), 'written');
}

const undoOf = (b: Bench, lane: LaneId, given: Partial<Undo>): Undo => ({
  ...{ id: 'und_1', tenant: TENANT, lane, owner: ANN, number: 1, kind: 'undo', to: null },
  ...{ consolidations: [], undos: [], memories: 0, at: b.tools.now() },
  ...given,
});
