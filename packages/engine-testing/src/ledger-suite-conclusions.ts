import { type Certainty, hasConclusions, liveVersion, type Memory, type MemoryChange } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, deleted, home, retracted, scope } from './builders.ts';
import { ALL, ANN, type Bench, expectKind, TENANT } from './ledger-bench.ts';

/** What nights conclude falls with its evidence, in whichever transaction that goes. */
export function describeConclusions(bench: () => Bench): void {
  describe('a conclusion', () => {
    it('falls with what it rests on, and stands again when that is back', async () => {
      const b = bench();
      const { one, concluded } = await concludedFrom(b, 2, 'low');
      await put(b, deleted(b.tools, one.memory, { forgets: true }));
      expect(await isShown(b, concluded)).toBe(false);
      const { results } = await b.ledger.memories.history(TENANT, concluded.id, ALL);
      expect(results.map(({ kind, actor, revision }) => [kind, actor, revision])).toEqual([
        ['ADD', 'sleep', 1],
        ['UNDO', 'sleep', 2],
      ]);
      expect(results[1]?.retraction).toEqual({ undoId: null, retracts: [1] });
      expect((await b.ledger.outbox.ofLane(concluded.lane, 100)).map(({ memoryId }) => memoryId)).toContain(
        concluded.id,
      );
      const again = await b.reopened();
      const gone = await again.memories.get(TENANT, one.memory.id);
      if (gone === null) throw new Error('expected a forgotten memory');
      await put(b, retracted(b.tools, gone, { retracts: [2] }));
      expect(await isShown(b, concluded)).toBe(true);
    });

    it('stays while as much holds as its certainty needs', async () => {
      const b = bench();
      const { pieces, concluded } = await concludedFrom(b, 3, 'low');
      for (const [i, shown] of [true, false, false].entries()) {
        await put(b, deleted(b.tools, pieces[i]?.memory as Memory));
        expect(await isShown(b, concluded)).toBe(shown);
      }
    });

    it('that is written on what is already gone falls at once', async () => {
      const b = bench();
      const lane = await b.ledger.memories.laneOf(TENANT, ANN, b.tools.now());
      const pieces = [added(b.tools, home(lane), { text: 'a' }), added(b.tools, home(lane), { text: 'b' })];
      await put(b, ...pieces);
      await put(b, deleted(b.tools, pieces[0]?.memory as Memory));
      const { memory } = await conclude(b, pieces, 'low');
      expect(await isShown(b, memory)).toBe(false);
      expect(hasConclusions((await b.ledger.memories.get(TENANT, memory.id)) as Memory)).toBe(true);
    });
  });
}

async function concludedFrom(b: Bench, count: number, certainty: Certainty) {
  const lane = await b.ledger.memories.laneOf(TENANT, ANN, b.tools.now());
  const pieces = Array.from({ length: count }, (_, i) => added(b.tools, home(lane), { text: `piece ${i}` }));
  await put(b, ...pieces);
  const { memory: concluded } = await conclude(b, pieces, certainty);
  expect(await isShown(b, concluded)).toBe(true);
  return { one: pieces[0] as MemoryChange, pieces, concluded };
}

async function conclude(b: Bench, pieces: readonly MemoryChange[], certainty: Certainty): Promise<MemoryChange> {
  const from = pieces.map(({ memory }) => ({ memoryId: memory.id, version: 1 }));
  const lane = pieces[0]?.memory.lane;
  if (lane === undefined) throw new Error('expected a piece of evidence');
  const said = { text: 'all of them', actor: 'sleep' as const };
  const change = added(b.tools, home(lane), { ...said, details: { concluded: { certainty, from } } });
  await put(b, change);
  return change;
}

async function put(b: Bench, ...changes: readonly MemoryChange[]): Promise<void> {
  const now = b.tools.now();
  expectKind(await b.ledger.memories.write(TENANT, { changes, tombstones: [], now }), 'written');
}

async function isShown(b: Bench, { id }: Memory): Promise<boolean> {
  const { results } = await b.ledger.memories.list(TENANT, scope(), b.tools.now(), ALL);
  const memory = await b.ledger.memories.get(TENANT, id);
  const isListed = results.some((one) => one.id === id);
  expect(memory !== null && liveVersion(memory) !== null).toBe(isListed);
  return isListed;
}
