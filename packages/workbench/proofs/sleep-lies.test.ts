import { DEFAULT_SETTINGS, DEFAULT_TENANT, liveVersion, memoryWriter, standsOn } from '@slowwave/engine';
import { expectTrue, fakeChat, interestsIn, liesAbout, nightBench } from '@slowwave/engine-testing';
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

type Pair = { kind: 'same' | 'contradiction'; keep: string; drop: string; reason: string };

const THINGS = ['kayak', 'piano', 'violin', 'garden', 'bicycle', 'telescope', 'loom', 'sauna', 'kiln', 'drone'];
const SAYINGS = ['bought a', 'repaired the', 'took a class about the', 'lent a friend the', 'wrote about the'];

const thingIn = (text: string): string => THINGS.find((thing) => text.includes(thing)) ?? text;

const truth = (memories: readonly Shown[]): Pair[] =>
  memories.flatMap((one) =>
    memories
      .filter(({ text }) => text !== one.text && text.startsWith(one.text))
      .map(({ id }) => ({ kind: 'same' as const, keep: id, drop: one.id, reason: 'all of it' })),
  );

/** Each says something of two memories that does not hold. */
function lies(memories: readonly Shown[], nth: number): Pair[] {
  const one = memories[nth % memories.length];
  const other = memories.find(({ text }) => thingIn(text) !== thingIn(one?.text ?? ''));
  const [a, b] = [one?.id ?? '0', other?.id ?? '1'];
  const lie = (kind: Pair['kind'], keep: string, drop: string): Pair[] => [{ kind, keep, drop, reason: 'trust me' }];
  const kinds = [
    () => lie('same', '99', a),
    () => lie('same', 'mem_of_somebody_else', a),
    () => lie('same', a, a),
    () => lie('same', a, b),
    () => lie('contradiction', '99', a),
    () => lie('contradiction', a, b),
    () => truth(memories).map(({ keep, drop }) => ({ kind: 'same' as const, keep: drop, drop: keep, reason: 'less' })),
  ];
  return kinds[nth % kinds.length]?.() ?? [];
}

it('a model that lies in a fifth of all its answers changes nothing by its lies, over all acts', async () => {
  const told = { pairs: 0, conclusions: 0, lied: 0 };
  const isLie = (nth: number): boolean => nth % LIES === 0;
  const shownIn = (input: { readonly memories?: unknown }) => input.memories as readonly Shown[];
  const chat = fakeChat({
    judge_neighbours: (input) => {
      told.pairs += 1;
      if (!isLie(told.pairs)) return { pairs: truth(shownIn(input)) };
      told.lied += 1;
      return { pairs: lies(shownIn(input), told.lied) };
    },
    find_patterns: (input) => {
      told.conclusions += 1;
      if (!isLie(told.conclusions)) return { conclusions: interestsIn(shownIn(input)) };
      told.lied += 1;
      return { conclusions: liesAbout(shownIn(input), told.lied) };
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
    said.push(whole);
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
  // What says most of each thing is still there.
  expect(said.filter((text) => !live.includes(text))).toEqual([]);
  await expectTrue(night.deps.ledger);
});
