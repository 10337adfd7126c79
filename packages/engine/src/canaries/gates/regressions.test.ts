import { canaryBench } from '@slowwave/engine-testing';
import { expect, it } from 'vitest';
import { watchedFrom } from '../sweep.ts';

// One of the twelve; another one is tried on a server, and `./scripts/prove canary` tries them all.
const TALK = { users: 40, rounds: 12, seed: 7, before: 2, every: 10 };
const CONSOLIDATIONS_MAX = 200;

it('a canary halts within 200 consolidations where the model updates the wrong memory, and leaves nothing behind', async () => {
  const bench = await canaryBench(TALK);
  const said = await bench.talkUntilHalted(() => bench.start('updates the wrong one'));
  const { id, halt, watched } = await bench.canary();
  expect(halt, JSON.stringify(watched)).not.toBeNull();
  expect(await bench.deps.ledger.canaries.appliedSince(id, 0)).toBeLessThanOrEqual(CONSOLIDATIONS_MAX);
  await bench.until('undone');
  expect(await bench.canary()).toMatchObject({ state: 'undone', waiting: null });
  const without = await canaryBench(TALK);
  await without.talk(said);
  expect(await bench.hashes()).toEqual(await without.hashes());
});

it('a canary of a change that changes nothing does not halt', async () => {
  const bench = await canaryBench({ ...TALK, rounds: 3, seed: 1, before: 1, every: 20 });
  await bench.talkUntilHalted(() => bench.start(null));
  const { state, halt, watched } = await bench.canary();
  expect({ state, halt }).toEqual({ state: 'running', halt: null });
  const { consolidations } = watchedFrom(watched) ?? { consolidations: { canary: 0, rest: 0 } };
  expect(Math.min(consolidations.canary, consolidations.rest), 'enough to compare').toBeGreaterThan(20);
});
