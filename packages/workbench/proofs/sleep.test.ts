import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteLedger } from '@slowwave/adapters/sqlite';
import {
  DEFAULT_TENANT,
  eraseOwner,
  hasConclusions,
  type LaneId,
  memoryWriter,
  requestErasure,
  sleepLane,
  sweepNights,
} from '@slowwave/engine';
import {
  createMemoryIndex,
  emptyIndex,
  expectTrue,
  fakeChat,
  fixedTools,
  interestsIn,
  mortal,
  NEVER,
  nightBench,
  patternBench,
} from '@slowwave/engine-testing';
import { tempDir } from '@slowwave/testkit';
import { expect, it, onTestFinished } from 'vitest';

const TENANT = DEFAULT_TENANT;
// biome-ignore lint/style/noProcessEnv: ./scripts/prove sleep says how many
const ERASURES = Number(process.env.SLEEP_ERASURES ?? 1_000);
// biome-ignore lint/style/noProcessEnv: ./scripts/prove sleep says how many
const OWNERS = Number(process.env.SLEEP_OWNERS ?? 2_000);
const IDLE_HOURS = 0.01;
const DAYS_MAX = 100;
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

it('of an owner who is erased no conclusion, no point of the index and no count is left', async () => {
  const state = emptyIndex();
  const night = await patternBench(interestsIn, { ledger: await ledgerInFile(), index: createMemoryIndex(state) });
  const rules = await night.deps.ledger.settings.get(TENANT);
  await night.deps.ledger.settings.put(TENANT, { ...rules, sleep: { ...rules.sleep, agents: true } });
  await night.say({ things: 10, sayings: 5 });
  await night.night();
  expect((await night.concluded()).length).toBeGreaterThan(0);
  expect(state.points.size).toBeGreaterThan(0);
  const { id } = await requestErasure(night.deps, TENANT, { kind: 'user', id: 'ann' });
  const queue = { erase: async () => {}, forgetLane: async () => {} };
  await eraseOwner({ ...night.deps, queue, settleMs: 0 })(id, NEVER);
  expect(await night.deps.ledger.erasures.get(TENANT, id)).toMatchObject({ state: 'erased' });
  expect(await night.deps.ledger.memories.every(null, 1_000)).toEqual([]);
  expect((await night.deps.ledger.nights.list(TENANT, {}, { limit: 100, cursor: null })).results).toEqual([]);
  expect(state.points.size).toBe(0);
});

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

it('many owners under a share of the budget: it is never passed, and every owner has a turn', async () => {
  const CAP = 150 * OWNERS; // a question of a night has about 1,000 tokens
  const chat = fakeChat({ judge_neighbours: () => ({ pairs: [] }) });
  const night = await nightBench({ chat }, { shareOfBudget: 0.1 });
  const { ledger } = night.deps;
  const rules = await ledger.settings.get(TENANT);
  await ledger.settings.put(TENANT, { ...rules, budgets: { ...rules.budgets, tokensPerDay: CAP / 0.1 } });
  const writer = memoryWriter(night.deps);
  const none = { category: null, metadata: {}, immutable: false, expiresAt: null, validFrom: null };
  for (let i = 0; i < OWNERS; i += 1)
    for (const text of ['User likes green tea', 'User likes tea, green tea'])
      await writer.add(TENANT, {
        ...none,
        text,
        scope: { userId: `user${i}`, agentId: null, runId: null, appId: null },
      });
  let days = 0;
  const asked = () => chat.calls.filter(({ name }) => name === 'judge_neighbours').length;
  for (; asked() < OWNERS && days < DAYS_MAX; days += 1) {
    night.tools.set((Math.floor(night.tools.now() / DAY_MS) + 1) * DAY_MS + MINUTE_MS);
    for (let before = -1; before < asked(); ) {
      before = asked();
      await night.night(IDLE_HOURS);
    }
    const since = Math.floor(night.tools.now() / DAY_MS) * DAY_MS;
    expect(await ledger.nights.spent(TENANT, since)).toBeLessThanOrEqual(CAP);
  }
  expect([asked(), days > 1]).toEqual([OWNERS, true]);
}, 1_200_000);

async function ledgerInFile() {
  const folder = await tempDir();
  const ledger = await openSqliteLedger({ path: join(folder.path, 'ledger.db'), tools: fixedTools() });
  onTestFinished(async () => {
    await ledger.close();
    await rm(folder.path, { recursive: true, force: true });
  });
  return ledger;
}
