import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteLedger } from '@slowwave/adapters/sqlite';
import { canaryBench, createMemoryIndex, fixedTools, TALK_REGRESSIONS } from '@slowwave/engine-testing';
import { tempDir } from '@slowwave/testkit';
import { expect, it, onTestFinished } from 'vitest';

const TALK = { users: 40, rounds: 12, seed: 7, before: 2, every: 10 };
const CONSOLIDATIONS_MAX = 200;
const UNCHANGED = 20;

/** With the ledger in a file. */
async function bench(talk = TALK) {
  const folder = await tempDir();
  const ledger = await openSqliteLedger({ path: join(folder.path, 'ledger.db'), tools: fixedTools() });
  onTestFinished(async () => {
    await ledger.close();
    await rm(folder.path, { recursive: true, force: true });
  });
  return canaryBench(talk, { stores: { ledger, index: createMemoryIndex() } });
}

it.each(TALK_REGRESSIONS)(
  'a canary halts within 200 consolidations where the model %s, and leaves nothing behind',
  async (how) => {
    const tried = await bench();
    const said = await tried.talkUntilHalted(() => tried.start(how));
    const { id, halt } = await tried.canary();
    expect(halt).not.toBeNull();
    expect(await tried.deps.ledger.canaries.appliedSince(id, 0)).toBeLessThanOrEqual(CONSOLIDATIONS_MAX);
    await tried.until('undone');
    expect(await tried.canary()).toMatchObject({ state: 'undone', waiting: null });
    const without = await bench();
    await without.talk(said);
    expect(await tried.hashes()).toEqual(await without.hashes());
  },
);

it('of twenty canaries of a change that changes nothing at most one halts', async () => {
  let halted = 0;
  for (let seed = 1; seed <= UNCHANGED; seed += 1) {
    const tried = await canaryBench({ ...TALK, seed, before: 1, every: 20 });
    await tried.talkUntilHalted(() => tried.start(null));
    if ((await tried.canary()).halt !== null) halted += 1;
  }
  expect(halted).toBeLessThanOrEqual(1);
});
