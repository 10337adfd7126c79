import { canaryBench, deathAfter, mortal, NEVER } from '@slowwave/engine-testing';
import { expect, it } from 'vitest';
import { undoCanary } from '../canaries/start.ts';
import { canarySweep } from '../canaries/sweep.ts';
import { DEFAULT_TENANT } from '../words.ts';

const TALK = { users: 2, rounds: 2, seed: 3, before: 1, every: 1_000 };
const ALL = [{ share: 100, minMs: 60_000, minConsolidations: 1_000 }];
/** More calls of ports than the sweep of this undo makes. */
const CALLS_MAX = 150;

/** A canary that is about to be undone, with somebody's turn under way. */
async function scene() {
  const bench = await canaryBench(TALK);
  await bench.talkUntilHalted(() => bench.start('drops negations', { steps: ALL }));
  await bench.post(['I do not eat walnuts at all.'], { userId: 'user-1' });
  const { id } = await bench.canary();
  await undoCanary(bench.deps, { tenant: DEFAULT_TENANT, id }, null);
  return bench;
}

it('a worker that is killed between any two calls of ports while it undoes a canary leaves the same behind', async () => {
  const clean = await canaryBench(TALK);
  await clean.talk(TALK.users * TALK.rounds);
  await clean.post(['I do not eat walnuts at all.'], { userId: 'user-1' });
  await clean.run();
  const expected = await clean.hashes();
  let calls = 0;
  for (let ended = false; !ended; calls += 1) {
    const bench = await scene();
    const process = mortal(bench.canaries, deathAfter(calls));
    bench.tools.advance(5_000);
    await canarySweep(process.deps)(NEVER).catch(() => null);
    ended = process.calls.length < calls;
    await bench.until('undone');
    const where = `killed after ${process.calls[calls - 1]}`;
    expect((await bench.canary()).state, where).toBe('undone');
    expect(await bench.hashes(), where).toEqual(expected);
    const { pending, consolidating, parked, undone } = await bench.deps.ledger.overview.batches(DEFAULT_TENANT);
    expect({ pending, consolidating, parked, undone }, where).toEqual({
      ...{ pending: 0, consolidating: 0, parked: 0, undone: 0 },
    });
  }
  expect(calls, 'calls of ports in the sweep').toBeGreaterThan(30);
  expect(calls).toBeLessThan(CALLS_MAX);
});
