import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteLedger } from '@slowwave/adapters/sqlite';
import { DEFAULT_TENANT, hasConclusions, type LaneId, memoryWriter, sleepLane, sweepNights } from '@slowwave/engine';
import {
  createMemoryIndex,
  expectTrue,
  fixedTools,
  interestsIn,
  mortal,
  NEVER,
  patternBench,
} from '@slowwave/engine-testing';
import { tempDir } from '@slowwave/testkit';
import { expect, it, onTestFinished } from 'vitest';

const TENANT = DEFAULT_TENANT;
// biome-ignore lint/style/noProcessEnv: ./scripts/prove sleep says how many
const ERASURES = Number(process.env.SLEEP_ERASURES ?? 1_000);
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

it('after each of a thousand deletions of evidence no conclusion is left that leans on too little', async () => {
  let erased = 0;
  let fallen = 0;
  while (erased < ERASURES) {
    const night = await patternBench(interestsIn, { ledger: await ledgerInFile(), index: createMemoryIndex() });
    await night.say({ things: 10, sayings: 5 });
    await night.night();
    const before = (await night.concluded()).length;
    expect(before).toBeGreaterThan(0);
    for (const memory of await night.memories()) {
      if (hasConclusions(memory)) continue;
      await memoryWriter(night.deps).remove(TENANT, memory.id);
      erased += 1;
      expect(await night.hollow()).toEqual([]);
    }
    fallen += before;
    expect(await night.live()).toEqual([]);
    await expectTrue(night.deps.ledger);
  }
  expect(fallen).toBeGreaterThan(0);
}, 1_200_000);

it.each(['before', 'after'] as const)(
  'a worker that is killed %s any call of a port while it concludes leaves what the next one makes the same',
  async (when) => {
    const scene = async () => {
      const night = await patternBench(interestsIn);
      await night.say({ things: 3, sayings: 3 });
      night.tools.advance(DAY_MS);
      return night;
    };
    const clean = await scene();
    await clean.night(0);
    const expected = { hash: await clean.hash(), live: await clean.live(), asked: clean.asked() };
    expect((await clean.concluded()).length).toBeGreaterThan(0);
    for (let at = 0, ended = false; !ended; at += 1) {
      const night = await scene();
      const lanes: LaneId[] = [];
      await sweepNights(night.deps, { sleep: async (due) => void lanes.push(...due) });
      const process = mortal(night.deps, { at, when });
      const deps = { ...process.deps, slept: () => {}, takeOverMs: MINUTE_MS };
      await sleepLane(deps)(lanes[0] as LaneId, NEVER).catch(() => null);
      ended = process.calls.length <= at;
      night.tools.advance(3 * MINUTE_MS);
      await night.night(0);
      const where = `killed ${when} ${process.calls[at]}`;
      expect(await night.live(), where).toEqual(expected.live);
      expect(await night.hash(), where).toBe(expected.hash);
      expect(night.asked(), where).toBeLessThanOrEqual(expected.asked + 1);
      await expectTrue(night.deps.ledger);
    }
  },
);

async function ledgerInFile() {
  const folder = await tempDir();
  const ledger = await openSqliteLedger({ path: join(folder.path, 'ledger.db'), tools: fixedTools() });
  onTestFinished(async () => {
    await ledger.close();
    await rm(folder.path, { recursive: true, force: true });
  });
  return ledger;
}
