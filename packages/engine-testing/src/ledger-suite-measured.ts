import type { FiguresOfModel, HowToMeasure, LaneId } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { heldOperation, rated } from './builders.ts';
import { apply, type Bench, claimedBatch, MINUTE, OTHER_TENANT, TENANT, write } from './ledger-bench.ts';
import { oneMemory } from './ledger-bench-webhooks.ts';
import { append } from './ledger-suite-receipts.ts';
import { undoOf } from './ledger-suite-undos.ts';

const FIGURES: FiguresOfModel = { model: 'small', figures: { adds: { part: 1, of: 2 }, cost: { part: 0.125, of: 3 } } };
const NOTHING = { part: 0, of: 0 };

export function describeMeasured(bench: () => Bench): void {
  describe('what was measured', () => {
    it('comes back as it was, of the tenant and stretch that are asked for, the newest first', async () => {
      const b = bench();
      const start = b.tools.now();
      const first = await measured(b, FIGURES);
      b.tools.advance(MINUTE);
      const middle = b.tools.now();
      await measured(b, { ...FIGURES, model: 'large' });
      await measured(b, null);
      expect((await read(b)).consolidations).toEqual([
        { ...FIGURES, model: 'large', lane: first, undone: false },
        { ...FIGURES, lane: first, undone: false },
      ]);
      expect((await read(b, { rowsMax: 1 })).consolidations).toMatchObject([{ model: 'large' }]);
      expect((await read(b, { from: start, to: middle })).consolidations).toMatchObject([{ model: 'small' }]);
      expect((await b.ledger.overview.measured(OTHER_TENANT, all(b))).consolidations).toEqual([]);
    });

    it('says what was undone since', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await apply(b, turn, { measured: FIGURES });
      const undo = undoOf(b, turn.lane, { consolidations: [turn.consolidationId] });
      const nothing = { changes: [], tombstones: [], undone: [], redone: [] };
      await b.ledger.undos.write(TENANT, { ...nothing, undo, undone: [turn.consolidationId] });
      expect((await read(b)).consolidations).toMatchObject([{ undone: true }]);
    });

    it('counts what people and outcomes were against', async () => {
      const b = bench();
      expect((await read(b)).opinions).toEqual({ reviews: NOTHING, ratings: NOTHING, outcomes: NOTHING });
      const { turn } = await claimedBatch(b);
      const [rejected, open] = [heldOperation(b.tools), heldOperation(b.tools)];
      await apply(b, turn, { reviews: [rejected, open] });
      await b.ledger.reviews.settle(TENANT, rejected.id, { state: 'rejected', now: b.tools.now() });
      const { memory } = await oneMemory(b);
      await write(b, rated(b.tools, memory, { version: 1, rating: 'positive' }));
      const receipt = await append(b, memory.lane, { route: 'search' });
      await append(b, memory.lane, { route: 'search' });
      await b.ledger.receipts.judge(TENANT, receipt.id, { outcome: 'bad', now: b.tools.now() });
      expect((await read(b)).opinions).toEqual({
        reviews: { part: 1, of: 1 },
        ratings: { part: 0, of: 1 },
        outcomes: { part: 1, of: 1 },
      });
      expect((await read(b, { to: 1 })).opinions.reviews).toEqual(NOTHING);
      expect((await b.ledger.overview.measured(OTHER_TENANT, all(b))).opinions.outcomes).toEqual(NOTHING);
    });
  });
}

async function measured(b: Bench, figures: FiguresOfModel | null): Promise<LaneId> {
  const { turn } = await claimedBatch(b);
  await apply(b, turn, { measured: figures });
  b.tools.advance(1);
  return turn.lane;
}

const all = ({ tools }: Bench): HowToMeasure => ({ from: 0, to: tools.now() + 1, rowsMax: 100 });

const read = (b: Bench, how: Partial<HowToMeasure> = {}) => b.ledger.overview.measured(TENANT, { ...all(b), ...how });
