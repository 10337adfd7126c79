import { DEFAULT_TENANT, liveVersion, memoryWriter } from '@slowwave/engine';
import { expectTrue, fakeChat, nightBench, searched, sleptWorld } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';

const TENANT = DEFAULT_TENANT;
const DAY_MS = 86_400_000;
const DAYS = 60;
/** Ten nights of 1,473 memories take minutes on a machine that has other things to do. */
const LIMIT = { timeout: 1_800_000 };

test.each([
  ['G1, G4', { seed: 11, facts: 455, updates: 161 }],
  ['G2, G4', { seed: 12, facts: 2_310, updates: 837 }],
])(
  '%s: with ten nights in between, whose model says that everything is the same, nothing changes',
  LIMIT,
  async (_, size) => {
    const { bench, of } = await sleptWorld(size, { nights: 10 });
    expect(await bench.live()).toEqual([...of.gold].sort());
    const gold = new Set(of.gold);
    const asked = of.questions.slice(0, 100);
    const answers = await Promise.all(asked.map(({ text }) => searched(bench, text)));
    expect(answers.flat().filter((text) => !gold.has(text))).toEqual([]);
    const right = asked.filter((question, i) => answers[i]?.[0] === question.gold);
    expect(right.length).toBeGreaterThanOrEqual(99);
    await expectTrue(bench.deps.ledger);
  },
);

const PLANS: readonly ((place: string, date: string) => string)[] = [
  (place, date) => `User is going to ${place} on ${date}`,
  (place, date) => `User plans to visit ${place} on ${date}`,
  (place, date) => `User will fly to ${place} on ${date}`,
  (place, date) => `User has an exam in ${place} on ${date}`,
];
/** What says that something is still to come. */
const TO_COME = /\b(?:is going to|plans to|will|has an exam in)\b/u;

test('whatever is planned for a day reads as planned on the next morning and not before, and as of earlier as it did', async () => {
  const night = await nightBench(
    { chat: fakeChat({}) },
    { limits: { calls: 0, tokens: 0, operations: 500, share: 1 } },
  );
  const dayOf = (after: number): string => new Date(night.tools.now() + after * DAY_MS).toISOString().slice(0, 10);
  const scope = { userId: 'ann', agentId: null, runId: null, appId: null };
  const none = { scope, category: null, metadata: {}, immutable: false, expiresAt: null, validFrom: null };
  const plans = Array.from({ length: DAYS }, (_, i) => ({
    place: `Place${i}`,
    date: dayOf(i),
    text: PLANS[i % PLANS.length]?.(`Place${i}`, dayOf(i)) ?? '',
  }));
  for (const { text } of plans) await memoryWriter(night.deps).add(TENANT, { ...none, text });
  const said = night.tools.now();
  for (let day = 1; day <= DAYS + 1; day += 1) {
    await night.night();
    const today = dayOf(0);
    for (const { place, date } of plans) {
      const [found] = await searched(night, `What about ${place}?`);
      expect(found).toContain(place);
      expect([date, today, TO_COME.test(found ?? '')]).toEqual([date, today, date >= today]);
    }
  }
  for (const { place, text } of plans) expect((await searched(night, `What about ${place}?`, said))[0]).toBe(text);
  const live = (await night.memories()).flatMap((memory) => liveVersion(memory)?.text ?? []);
  expect(live.filter((text) => TO_COME.test(text))).toEqual([]);
});
