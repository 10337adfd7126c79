import { DEFAULT_SETTINGS, DEFAULT_TENANT, liveVersion, memoryWriter, readProfile, standsOn } from '@slowwave/engine';
import {
  expectTrue,
  fakeChat,
  homesIn,
  interestsIn,
  liesAbout,
  mergesIn,
  nightBench,
  pairLiesAbout,
  placeLiesAbout,
  SAYINGS,
  THINGS,
} from '@slowwave/engine-testing';
import { expect, it } from 'vitest';

const TENANT = DEFAULT_TENANT;
const ALL = { limit: 200, cursor: null };
const DAY_MS = 86_400_000;
const NIGHTS = 50;
const LIES = 5; // one answer of so many is one

interface Shown {
  readonly id: string;
  readonly text: string;
}

it('a model that lies in a fifth of all its answers changes nothing by its lies, over all acts', async () => {
  const told = { pairs: 0, conclusions: 0, places: 0, lied: 0 };
  const isLie = (nth: number): boolean => nth % LIES === 0;
  const shownIn = (input: { readonly memories?: unknown }) => input.memories as readonly Shown[];
  const chat = fakeChat({
    judge_neighbours: (input) => {
      told.pairs += 1;
      if (!isLie(told.pairs)) return { pairs: mergesIn(shownIn(input)) };
      told.lied += 1;
      return { pairs: pairLiesAbout(shownIn(input), told.lied) };
    },
    find_patterns: (input) => {
      told.conclusions += 1;
      if (!isLie(told.conclusions)) return { conclusions: interestsIn(shownIn(input)) };
      told.lied += 1;
      return { conclusions: liesAbout(shownIn(input), told.lied) };
    },
    choose_slots: (input) => {
      told.places += 1;
      if (!isLie(told.places)) return { places: homesIn(shownIn(input)) };
      told.lied += 1;
      return { places: placeLiesAbout(shownIn(input), told.lied) };
    },
  });
  const limits = { calls: 1_000, tokens: 10_000_000, operations: 500, share: 1 };
  const acts = { ...DEFAULT_SETTINGS.sleep.acts, patterns: true };
  const night = await nightBench({ chat }, { acts, limits });
  const none = { category: null, metadata: {}, immutable: false, expiresAt: null, validFrom: null };
  const scope = { userId: 'ann', agentId: null, runId: null, appId: null };
  const said: string[] = [];
  for (let nth = 0; nth < NIGHTS; nth += 1) {
    const thing = THINGS[nth % THINGS.length] ?? '';
    const saying = SAYINGS[Math.floor(nth / THINGS.length) % SAYINGS.length] ?? '';
    const whole = `User ${saying} ${thing} with neighbour${nth} of the house`;
    for (const text of [`User ${saying} ${thing}`, whole]) {
      night.tools.advance(DAY_MS);
      await memoryWriter(night.deps).add(TENANT, { ...none, scope, text });
    }
    const home = `User lives in house ${nth} of the lane`;
    await memoryWriter(night.deps).add(TENANT, { ...none, scope, text: home, category: 'personal_details' });
    said.push(whole, home);
    await night.night();
    const known = new Map((await night.memories()).map((memory) => [memory.id, memory]));
    const hollow = [...known.values()].filter((memory) => {
      const of = liveVersion(memory)?.details.concluded;
      return of !== undefined && !standsOn(of, (id) => known.get(id));
    });
    expect(hollow).toEqual([]);
  }
  const { results } = await night.deps.ledger.nights.list(TENANT, {}, ALL);
  const plans = await Promise.all(results.map(({ id }) => night.deps.ledger.thoughts.plan(id)));
  const acted = plans.flatMap((plan) => plan?.night?.acts ?? []).filter(({ decidedBy }) => decidedBy === 'model');
  expect(acted.filter(({ evidence }) => evidence.length === 0)).toEqual([]);
  expect(acted.filter(({ reason, asks }) => reason.includes('trust me') && !asks)).toEqual([]);
  const remarks = plans.flatMap((plan) => plan?.remarks ?? []);
  expect(told.lied).toBeGreaterThan(10);
  expect(remarks.length).toBeGreaterThan(0);
  for (const { did } of remarks) expect(did).toMatch(/^refused: \S/);
  const live = await night.live();
  const lines = (await readProfile(night.deps, { tenant: TENANT, userId: 'ann' })).flatMap(({ lines }) => lines);
  expect(lines.filter(({ fact }) => !live.includes(fact.text))).toEqual([]);
  // What says most of each thing is still there.
  expect(said.filter((text) => !live.includes(text))).toEqual([]);
  await expectTrue(night.deps.ledger);
});
