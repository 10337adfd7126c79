import {
  deathAfter,
  done,
  echoExtract,
  expectTrue,
  fakeChat,
  mergesIn,
  mortal,
  NEVER,
  type NightBench,
  nightBench,
  pairLiesAbout,
  type Script,
  THINGS,
  thingIn,
} from '@slowwave/engine-testing';
import { expect, it } from 'vitest';
import { memoryWriter } from '../../memories/write.ts';
import { sweepOutbox } from '../../projection/project.ts';
import { undoer } from '../../undo/undo.ts';
import { DEFAULT_TENANT, type LaneId } from '../../words.ts';
import { sleepLane, sweepNights } from '../sleep-lane.ts';

const TENANT = DEFAULT_TENANT;
const ALL = { limit: 100, cursor: null };
const MINUTE = 60_000;
const DAY = 86_400_000;

interface Shown {
  readonly id: string;
  readonly text: string;
}

const ADD_ALL: Script = (input) => ({
  operations: (input.facts as unknown as Shown[]).map(({ id }) => ({ fact: id, event: 'ADD', id: null, text: null })),
});

/** What one user said: each thing twice, once with more words; and plans that will be over. */
const SAID = THINGS.flatMap((thing, i) => [`User owns a ${thing}`, `User owns a ${thing} since ${2001 + i}`]);
const PLANS = ['User is going to Lisbon in March 2026', 'User has an exam on 2026-03-20'];

async function bench(judge: Script): Promise<NightBench & { readonly asked: () => number }> {
  const chat = fakeChat({ extract_facts: echoExtract, decide_operations: ADD_ALL, judge_neighbours: judge });
  const limits = { calls: 1_000, tokens: 10_000_000, operations: 500, share: 1 };
  const night = await nightBench({ chat }, { limits });
  return { ...night, asked: () => chat.calls.filter(({ name }) => name === 'judge_neighbours').length };
}

async function say(night: NightBench, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    night.tools.advance(MINUTE);
    await night.post([text]);
    await night.run();
  }
}

const planOf = async ({ deps }: NightBench) => {
  const { results } = await deps.ledger.nights.list(TENANT, {}, ALL);
  return { record: results[0], plan: await deps.ledger.thoughts.plan(results[0]?.id ?? '') };
};

it('a model that lies in a fifth of its answers changes nothing by its lies, and each is refused with a reason', async () => {
  let nth = 0;
  let lied = 0;
  const night = await bench((input) => {
    const memories = input.memories as unknown as Shown[];
    nth += 1;
    if (nth % 5 !== 0) return { pairs: mergesIn(memories) };
    const told = pairLiesAbout(memories, lied);
    lied += 1;
    return { pairs: told };
  });
  for (const [i] of THINGS.entries()) {
    await say(night, SAID.slice(2 * i, 2 * i + 2));
    await night.night();
  }
  const { results } = await night.deps.ledger.nights.list(TENANT, {}, ALL);
  const plans = await Promise.all(results.map(({ id }) => night.deps.ledger.thoughts.plan(id)));
  expect(lied).toBeGreaterThan(1);
  for (const { act, before, evidence } of plans.flatMap((plan) => plan?.night?.acts ?? [])) {
    expect(act).toBe('merge');
    expect(evidence.map(({ text }) => thingIn(text))).toEqual([thingIn(before ?? '')]);
    expect(evidence.map(({ text }) => text.startsWith(before ?? '?'))).toEqual([true]);
  }
  const remarks = plans.flatMap((plan) => plan?.remarks ?? []);
  const refused = remarks.filter(({ asked }) => asked.endsWith('trust me') || asked.endsWith('less'));
  expect(refused.length).toBeGreaterThan(0);
  for (const { did } of remarks) expect(did).toMatch(/^refused: /);
  // Whatever a thing's longer text says is still there.
  for (const text of SAID.filter((_, i) => i % 2 === 1)) expect(await night.live()).toContain(text);
});

it('a worker that is killed between any two calls of ports leaves what the next one makes the same, and asks nothing twice', async () => {
  const judge: Script = (input) => ({ pairs: mergesIn(input.memories as unknown as Shown[]) });
  const scene = async () => {
    const night = await bench(judge);
    await say(night, [...SAID.slice(0, 6), ...PLANS]);
    night.tools.advance(40 * DAY);
    return night;
  };
  const clean = await scene();
  await clean.night(0);
  const expected = { hash: await clean.hash(), live: await clean.live(), asked: clean.asked() };
  expect(expected.live).toContain('User planned to go to Lisbon in March 2026');
  expect(expected.live).not.toContain('User owns a kayak');
  let calls = 0;
  for (let ended = false; !ended; calls += 1) {
    const night = await scene();
    const lanes: LaneId[] = [];
    await sweepNights(night.deps, { sleep: async (due) => void lanes.push(...due) });
    const own = { slept: () => {}, takeOverMs: MINUTE };
    const process = mortal(night.deps, deathAfter(calls));
    await sleepLane({ ...process.deps, ...own })(lanes[0] as LaneId, NEVER).catch(() => null);
    ended = process.calls.length < calls;
    night.tools.advance(3 * MINUTE);
    await night.night(0);
    await sweepOutbox(night.deps, NEVER, { leftMs: 0 });
    const where = `killed after ${process.calls[calls - 1]}`;
    expect(await night.live(), where).toEqual(expected.live);
    expect(await night.hash(), where).toBe(expected.hash);
    expect(night.asked(), where).toBeLessThanOrEqual(expected.asked + 1);
    await expectTrue(night.deps.ledger);
  }
  expect(calls, 'calls of ports in one night').toBeGreaterThan(15);
});

it('each of ten nights is undone to the state of its evening, and all of them are redone', async () => {
  const night = await bench((input) => ({ pairs: mergesIn(input.memories as unknown as Shown[]) }));
  const evenings: { readonly id: string; readonly before: string; readonly after: string }[] = [];
  for (const [i] of THINGS.entries()) {
    await say(night, SAID.slice(2 * i, 2 * i + 2));
    const before = await night.hash();
    await night.night();
    const { record } = await planOf(night);
    evenings.push({ id: record?.id ?? '', before, after: await night.hash() });
    const undone = done(await undoer(night.deps).undo(TENANT, record?.id ?? '', { cascade: false, dryRun: false }));
    expect(await night.hash()).toBe(before);
    done(await undoer(night.deps).redo(TENANT, undone.undo?.id ?? '', { dryRun: false }));
    expect(await night.hash()).toBe(evenings[i]?.after);
  }
  expect(new Set(evenings.map(({ id }) => id)).size).toBe(THINGS.length);
  for (const { id } of evenings.toReversed()) {
    done(await undoer(night.deps).undo(TENANT, id, { cascade: false, dryRun: false }));
  }
  expect(await night.live()).toEqual([...SAID].sort());
});

it('what a memory was merged into takes it along: after any deletion nothing that says it is found', async () => {
  const night = await bench((input) => ({ pairs: mergesIn(input.memories as unknown as Shown[]) }));
  await say(night, SAID);
  await night.night();
  for (const memory of await night.memories()) await memoryWriter(night.deps).remove(TENANT, memory.id);
  expect(await night.live()).toEqual([]);
  await sweepOutbox(night.deps, NEVER, { leftMs: 0 });
  const [hits = []] = await night.deps.index.search([
    {
      ...{ tenant: TENANT, owner: { kind: 'user', id: 'ann' }, lane: (await night.memories())[0]?.lane as LaneId },
      ...{ shelf: 'memories', filter: {}, visibility: { kind: 'as_of', at: night.tools.now() - DAY } },
      ...{ vector: null, terms: ['owns', 'kayak', 'piano'], where: null, wide: false, limit: 100 },
    },
  ]);
  expect(hits).toEqual([]);
});
