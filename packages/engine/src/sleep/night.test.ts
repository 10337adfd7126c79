import { done, echoExtract, fakeChat, type NightBench, nightBench, type Script } from '@slowwave/engine-testing';
import { describe, expect, test } from 'vitest';
import { liveVersion } from '../memories/evolve.ts';
import { foundVersions } from '../memories/former.ts';
import { memoryWriter } from '../memories/write.ts';
import type { SleepSettings } from '../settings.ts';
import { undoer } from '../undo/undo.ts';
import { DEFAULT_TENANT } from '../words.ts';

const TENANT = DEFAULT_TENANT;
const ALL = { limit: 100, cursor: null };
const DAY_HOURS = 24;
const ADD_ALL: Script = (input) => ({
  operations: (input.facts as unknown as Shown[]).map(({ id }) => ({ fact: id, event: 'ADD', id: null, text: null })),
});

interface Shown {
  readonly id: string;
  readonly text: string;
}

/** Says of each pair of texts what it is told, the later text stays. */
const pairsBy =
  (kindOf: (one: string, other: string) => 'same' | 'contradiction' | null): Script =>
  (input) => {
    const memories = input.memories as unknown as Shown[];
    const pairs = memories.flatMap((one, i) =>
      memories.slice(i + 1).flatMap((other) => {
        const kind = kindOf(one.text, other.text);
        return kind === null ? [] : [{ kind, keep: other.id, drop: one.id, reason: 'as told' }];
      }),
    );
    return { pairs };
  };

async function bench(judge: Script, sleep: Partial<SleepSettings> = {}) {
  const chat = fakeChat({ extract_facts: echoExtract, decide_operations: ADD_ALL, judge_neighbours: judge });
  const night = await nightBench({ chat }, sleep);
  const asked = () => chat.calls.filter(({ name }) => name === 'judge_neighbours').length;
  return { ...night, asked };
}

async function say(night: NightBench, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    night.tools.advance(60_000);
    await night.post([text]);
    await night.run();
  }
}

const nights = async ({ deps }: NightBench) => (await deps.ledger.nights.list(TENANT, {}, ALL)).results;

const nothing = pairsBy(() => null);
const same = pairsBy(() => 'same');

describe('a night', () => {
  test('is off unless a tenant wants it', async () => {
    const night = await bench(same, { mode: 'off' });
    await say(night, 'User likes green tea', 'User likes tea that is green');
    expect(await night.night()).toBe(0);
  });

  test('comes when its owner has been quiet for long enough, in the hours it may', async () => {
    const window = { from: '22:00', to: '06:00', timezone: 'Europe/Oslo' };
    const night = await bench(nothing, { idleHours: 6, window });
    await say(night, 'User likes tea'); // at 10:01 in Oslo
    expect(await night.night(5)).toBe(0); // too early in both ways
    expect(await night.night(3)).toBe(0); // 18:01
    expect(await night.night(4)).toBe(1); // 22:01
  });

  test('comes no more once its hours are over, where they are of one day', async () => {
    const window = { from: '01:00', to: '10:01', timezone: 'Europe/Oslo' };
    const night = await bench(nothing, { idleHours: 6, window });
    await say(night, 'User likes tea'); // at 10:01 in Oslo
    expect(await night.night(24)).toBe(0); // 10:01
    expect(await night.night(14)).toBe(0); // 00:01
    expect(await night.night(1)).toBe(1); // 01:01
  });

  test('merges what says the same: one stays, confirmed under the ids of both, and the other ends', async () => {
    const night = await bench(same);
    await night.post(['User likes tea, green tea'], { scope: { agentId: 'a' } });
    await night.run();
    night.tools.advance(60_000);
    await night.post(['User likes green tea'], { scope: { agentId: 'b' } });
    await night.run();
    await night.night();
    expect(await night.live()).toEqual(['User likes green tea']);
    const kept = (await night.memories()).find(({ versions }) => versions.some(({ invalidAt }) => invalidAt === null));
    expect(kept?.confirmations).toBe(1);
    expect(kept?.timeline.flatMap((mark) => (mark.kind === 'said' ? [mark.under?.agentId] : []))).toEqual(['b', 'a']);
    const [record] = await nights(night);
    expect(record).toMatchObject({ state: 'applied', undone: false, operations: 1, memories: 2 });
    const plan = await night.deps.ledger.thoughts.plan(record?.id ?? '');
    expect(plan?.night?.acts).toMatchObject([
      { act: 'merge', before: 'User likes tea, green tea', after: null, evidence: [{ text: 'User likes green tea' }] },
    ]);
  });

  test.each([
    ['says less', 'User likes green tea from Uji', 'User likes green tea'],
    ['says the opposite', 'User likes green tea', 'User does not like green tea'],
    ['has another number', 'User has 2 cats at home', 'User has 3 cats at home'],
    ['has another name', 'User met Bo in Oslo', 'User met Jo in Oslo'],
    ['begins with another name', 'Bram Jansen plays the sport of judo', 'Olga Jansen plays the sport of judo'],
    ['has another thing', 'User plays the sport of judo', 'User plays the sport of polo'],
  ])('refuses to merge a memory into one that %s', async (_, dropped, kept) => {
    const night = await bench(same);
    await say(night, dropped, kept);
    await night.night();
    expect(await night.live()).toEqual([dropped, kept].sort());
    const [record] = await nights(night);
    expect((await night.deps.ledger.thoughts.plan(record?.id ?? ''))?.remarks).toMatchObject([
      { did: 'refused: one of them contains information that the other lacks' },
    ]);
  });

  test('ends what a later memory says is no longer so, and asks a person about the rest', async () => {
    const night = await bench(
      pairsBy((one, other) => (one.includes('tea') === other.includes('tea') ? 'contradiction' : null)),
    );
    await say(night, 'User lives in Oslo', 'User moved to live in Bergen', 'User likes tea', 'User hates tea');
    await night.night();
    expect(await night.live()).toEqual(['User hates tea', 'User likes tea', 'User moved to live in Bergen']);
    const { results } = await night.deps.ledger.reviews.list(TENANT, {}, ALL);
    expect(results.map(({ operation, state }) => [operation.before, state])).toEqual([['User likes tea', 'pending']]);
    expect(results[0]?.operation.reason).toContain('“User hates tea”');
  });

  test('turns plans whose date is over, the day after, and says nothing about what happened', async () => {
    const night = await bench(nothing);
    await say(night, 'User is going to Lisbon in March 2026', 'User has an exam on 2026-03-20');
    await night.night(13 * DAY_HOURS);
    expect(await night.live()).toEqual(['User has an exam on 2026-03-20', 'User is going to Lisbon in March 2026']);
    await night.night(7 * DAY_HOURS); // without a word of the owner, on the 21st
    expect(await night.live()).toEqual([
      'User had an exam planned on 2026-03-20',
      'User is going to Lisbon in March 2026',
    ]);
    await night.night(12 * DAY_HOURS);
    expect(await night.live()).toContain('User planned to go to Lisbon in March 2026');
    const memory = (await night.memories()).find(({ versions }) => versions.length === 2);
    const [before, after] = memory?.versions ?? [];
    expect(before?.invalidAt).toBe(after?.validFrom);
  });

  test('what was said later still comes later than what a night made of a plan', async () => {
    const night = await bench(nothing);
    const memory = async () => (await night.memories())[0];
    await say(night, 'User is going to Lisbon in March 2026');
    await night.night(40 * DAY_HOURS);
    const known = await memory();
    expect(known?.versions.map(({ saidAt }) => saidAt.at)).toEqual(Array(2).fill(known?.timeline[0]?.recordedAt));
  });

  test('lets fade what nobody needed for half a year, and proposes to forget it after another', async () => {
    const night = await bench(nothing);
    await say(night, 'User once owned a kayak');
    await night.night(100 * DAY_HOURS);
    const details = async () => (await night.memories())[0]?.versions[0]?.details;
    expect((await details())?.faded).toBeUndefined();
    await say(night, 'User likes tea');
    await night.night(90 * DAY_HOURS);
    expect((await details())?.faded).toBe(true);
    await say(night, 'User likes coffee');
    await night.night(200 * DAY_HOURS);
    const { results } = await night.deps.ledger.reviews.list(TENANT, {}, ALL);
    expect(results.map(({ operation }) => [operation.kind, operation.before, operation.forgets])).toContainEqual([
      'DELETE',
      'User once owned a kayak',
      true,
    ]);
    expect(await night.live()).toContain('User once owned a kayak');
  });
});

describe('without news', () => {
  test('thirty nights ask nothing after the first', async () => {
    const night = await bench(same);
    await say(
      night,
      'User likes green tea',
      'User likes tea, green tea',
      'User lives in Oslo',
      'User has a home in Oslo',
    );
    await night.night();
    const [asked, hash] = [night.asked(), await night.hash()];
    expect(asked).toBeGreaterThan(0);
    for (let nth = 0; nth < 30; nth += 1) await night.night();
    expect(night.asked()).toBe(asked);
    expect(await night.hash()).toBe(hash);
    await say(night, 'User drinks green tea every day');
    await night.night();
    expect(night.asked()).toBeGreaterThan(asked);
  });

  test('what would be remembered without nights is shown, and nothing is changed by that', async () => {
    const night = await bench(same);
    await say(night, 'User likes green tea', 'User likes tea, green tea');
    await night.night();
    await say(night, 'User owns a boat');
    const [before, hash] = [await night.live(), await night.hash()];
    const without = async () => done(await night.settler.without(TENANT, { kind: 'user', id: 'ann' })).differences;
    expect((await without()).map((one) => [one.before, one.after])).toEqual([[null, 'User likes green tea']]);
    expect([await night.live(), await night.hash()]).toEqual([before, hash]);
    const [record] = await nights(night);
    done(await undoer(night.deps).undo(TENANT, record?.id ?? '', { cascade: true, dryRun: false }));
    expect(await without()).toEqual([]);
    expect(await night.settler.without(TENANT, { kind: 'user', id: 'bob' })).toEqual({ kind: 'not_found' });
  });

  test('what was undone is not done again', async () => {
    const night = await bench(same);
    await say(night, 'User likes green tea', 'User likes tea, green tea');
    const before = await night.hash();
    await night.night();
    const [record] = await nights(night);
    done(await undoer(night.deps).undo(TENANT, record?.id ?? '', { cascade: false, dryRun: false }));
    expect(await night.hash()).toBe(before);
    expect((await nights(night))[0]).toMatchObject({ undone: true });
    await say(night, 'User owns a boat');
    await night.night();
    expect(await night.live()).toContain('User likes green tea');
  });
});

describe('bounds', () => {
  const PLANS = Array.from({ length: 12 }, (_, i) => `User plans to visit Place${i} on 2026-03-0${(i % 8) + 2}`);

  test('a night that would change too much waits for a person, who applies or discards it', async () => {
    const night = await bench(nothing);
    await say(night, ...PLANS);
    const before = await night.hash();
    await night.night(20 * DAY_HOURS);
    const [record] = await nights(night);
    expect(record).toMatchObject({ state: 'waiting', why: 'share', operations: 12, memories: 12 });
    expect(await night.hash()).toBe(before);
    expect(await night.night()).toBe(0);
    const applied = await night.settler.apply(TENANT, record?.id ?? '');
    expect(applied).toMatchObject({ kind: 'settled', night: { state: 'applied' }, searchable: true });
    expect(await night.live()).toContain('User planned to visit Place3 on 2026-03-05');
    expect(await night.settler.discard(TENANT, record?.id ?? '')).toEqual({ kind: 'over', state: 'applied' });
  });

  test('previews wait; one that comes too late is stale, and one that is not wanted does not come again', async () => {
    const night = await bench(nothing, { mode: 'preview' });
    await say(night, ...PLANS.slice(0, 2));
    await night.night(20 * DAY_HOURS);
    const [first] = await nights(night);
    const [memory] = await night.memories();
    await memoryWriter(night.deps).remove(TENANT, memory?.id ?? '');
    expect(await night.settler.apply(TENANT, first?.id ?? '')).toMatchObject({ night: { state: 'stale' } });
    await night.night();
    const [second] = await nights(night);
    expect(second).toMatchObject({ state: 'waiting', why: 'preview', memories: 1 });
    expect(await night.settler.discard(TENANT, second?.id ?? '')).toMatchObject({ night: { state: 'discarded' } });
    await say(night, 'User likes tea');
    await night.night();
    expect((await nights(night)).filter(({ state }) => state === 'waiting')).toEqual([]);
  });

  test('calls, tokens and operations of a night are limited; the next one goes on', async () => {
    const night = await bench(nothing, {
      limits: { calls: 2, tokens: 1_000_000, operations: 3, share: 1 },
    });
    const texts = Array.from({ length: 40 }, (_, i) => [`User owns boat${i} red`, `User has boat${i} red`]).flat();
    await say(night, ...texts, ...PLANS.slice(0, 5));
    await night.night(20 * DAY_HOURS);
    expect(night.asked()).toBeLessThanOrEqual(2);
    expect((await nights(night))[0]).toMatchObject({ operations: 3 });
    for (let nth = 0; nth < 12; nth += 1) await night.night();
    expect(night.asked()).toBeGreaterThan(2);
    expect((await night.live()).filter((text) => text.includes('plans'))).toEqual([]);
  });

  test('the budget of a day and the share of it that nights may use leave room for rules alone', async () => {
    const night = await bench(same, { shareOfBudget: 0 });
    const rules = await night.deps.ledger.settings.get(TENANT);
    const budgets = { ...rules.budgets, tokensPerDay: 1_000_000 };
    await night.deps.ledger.settings.put(TENANT, { ...rules, budgets });
    await say(night, 'User likes green tea', 'User likes tea, green tea', PLANS[0] ?? '');
    await night.night(20 * DAY_HOURS);
    expect(night.asked()).toBe(0);
    expect(await night.live()).toContain('User planned to visit Place0 on 2026-03-02');
  });
});

test('many owners under a share of the budget: never passed, and all have their turn', async () => {
  const CAP = 12_000;
  const night = await bench(nothing, { shareOfBudget: 0.1 });
  const rules = await night.deps.ledger.settings.get(TENANT);
  const budgets = { ...rules.budgets, tokensPerDay: CAP / 0.1 };
  await night.deps.ledger.settings.put(TENANT, { ...rules, budgets });
  const OWNERS = 30;
  for (let i = 0; i < OWNERS; i += 1) {
    const userId = `user${i}`;
    for (const text of ['User likes green tea', 'User likes tea, green tea']) {
      night.tools.advance(1_000);
      await night.post([text], { userId });
      await night.run();
    }
  }
  const asked = new Set<string>();
  for (let half = 0; half < 60 && asked.size < OWNERS; half += 1) {
    await night.night(12);
    const since = Math.floor(night.tools.now() / 86_400_000) * 86_400_000;
    expect(await night.deps.ledger.nights.spent(TENANT, since)).toBeLessThanOrEqual(CAP);
    for (const { owner } of await nights(night)) asked.add(owner.id);
  }
  expect(asked.size).toBe(OWNERS);
});

describe('what was merged', () => {
  const ENDED = 'User likes tea, green tea';

  test('is found nowhere but in the one that stayed, and its words go when that one is forgotten', async () => {
    const night = await bench(same);
    await say(night, ENDED, 'User likes green tea');
    await night.night();
    const memories = await night.memories();
    const [kept] = memories.filter((memory) => liveVersion(memory) !== null);
    expect(memories.flatMap(foundVersions).map(({ text }) => text)).toEqual(['User likes green tea']);
    const { results } = await night.deps.ledger.memories.around(
      TENANT,
      {
        scope: { userId: 'ann', agentId: null, runId: null, appId: null },
        at: night.tools.now() - DAY_HOURS * 3_600_000 - 30_000,
      },
      ALL,
    );
    expect(results.map(({ id }) => id)).toEqual([kept?.id]);
    await memoryWriter(night.deps).remove(TENANT, kept?.id ?? '');
    const sources = kept?.versions.flatMap(({ details }) => details.sourceIds) ?? [];
    const messages = await night.deps.ledger.memories.messages(TENANT, sources);
    expect([...messages.values()].map(({ content }) => JSON.stringify(content)).join()).not.toContain('tea');
  });

  test('is there again when the night is undone, with its own words', async () => {
    const night = await bench(same);
    await say(night, ENDED, 'User likes green tea');
    await night.night();
    const [record] = await nights(night);
    done(await undoer(night.deps).undo(TENANT, record?.id ?? '', { cascade: false, dryRun: false }));
    const found = (await night.memories()).flatMap(foundVersions).map(({ text }) => text);
    expect(found.sort()).toEqual(['User likes green tea', ENDED]);
  });
});
