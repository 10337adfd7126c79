import {
  deathAfter,
  done,
  echoExtract,
  expectTrue,
  type FakeChat,
  fakeChat,
  mortal,
  NEVER,
  type NightBench,
  nightBench,
  type Script,
} from '@slowwave/engine-testing';
import { describe, expect, test } from 'vitest';
import { memoryWriter } from '../memories/write.ts';
import { putLine, readProfile, takeLine } from '../profile/lines.ts';
import { DEFAULT_SETTINGS, type TenantSettings } from '../settings.ts';
import { undoer } from '../undo/undo.ts';
import { DEFAULT_TENANT, type JsonObject } from '../words.ts';
import { sleepLane } from './sleep-lane.ts';

const TENANT = DEFAULT_TENANT;
const ANN = { tenant: TENANT, userId: 'ann' };

interface Shown {
  readonly id: string;
  readonly text: string;
}

/** Puts memories into slots by the words in them. */
const choosing =
  (slotOf: (text: string) => string | null): Script =>
  ({ memories }) => ({
    places: (memories as unknown as Shown[]).flatMap(({ id, text }): JsonObject[] => {
      const slot = slotOf(text);
      return slot === null ? [] : [{ id, slot }];
    }),
  });

const byWord = choosing((text) => (/lives|moved/.test(text) ? 'home' : /speaks/.test(text) ? 'languages' : null));

interface ProfileBench extends NightBench {
  readonly chat: FakeChat;
  asked(): number;
  /** Slots with lines, as texts with who put them there. */
  profile(): Promise<Record<string, readonly string[]>>;
  idOf(text: string): Promise<string>;
}

async function bench(choose: Script = byWord, rules: Partial<TenantSettings> = {}): Promise<ProfileBench> {
  const facts: Script = (input, nth) => {
    const found = echoExtract(input, nth) as unknown as { facts: { text: string }[] };
    return { facts: found.facts.map((fact) => ({ ...fact, category: categoryOf(fact.text) })) };
  };
  const decide: Script = (input) => ({
    operations: (input.facts as unknown as Shown[]).map(({ id }) => ({ fact: id, event: 'ADD', id: null, text: null })),
  });
  const judge = () => ({ pairs: [] });
  const scripts = { extract_facts: facts, decide_operations: decide, judge_neighbours: judge, choose_slots: choose };
  const chat = fakeChat(scripts);
  const acts = { ...DEFAULT_SETTINGS.sleep.acts, merge: false, contradictions: false };
  const night = await nightBench({ chat }, { acts, ...rules.sleep });
  const { ledger, tools } = night.deps;
  await ledger.settings.put(TENANT, { ...(await ledger.settings.get(TENANT)), ...rules });
  return {
    ...night,
    chat,
    asked: () => chat.calls.filter(({ name }) => name === 'choose_slots').length,
    profile: async () =>
      Object.fromEntries(
        (await readProfile({ ledger, tools }, ANN)).flatMap(({ slot, lines }) =>
          lines.length === 0 ? [] : [[slot.name, lines.map(({ fact, by }) => `${by}: ${fact.text}`)]],
        ),
      ),
    idOf: async (text) => {
      const found = (await night.memories()).find(({ versions }) => versions.some((version) => version.text === text));
      return found?.id ?? '';
    },
  };
}

const categoryOf = (text: string): string | null =>
  /brother/.test(text) ? 'family' : /boat/.test(text) ? 'boats' : /Lisbon/.test(text) ? 'travel' : 'personal_details';

async function say(night: NightBench, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    night.tools.advance(60_000);
    await night.post([text]);
    await night.run();
  }
}

const nights = async ({ deps }: NightBench) =>
  (await deps.ledger.nights.list(TENANT, {}, { limit: 100, cursor: null })).results;
const planOf = async (night: NightBench) => night.deps.ledger.thoughts.plan((await nights(night))[0]?.id ?? '');

describe('the profile', () => {
  test('is filled by category at once, and at night by what a model chooses for the rest', async () => {
    const night = await bench();
    await say(night, 'User lives in Oslo', 'User has a brother', 'User is 33', 'User was in Lisbon');
    const family = ['rule: User has a brother'];
    expect(await night.profile()).toEqual({ family, other: ['rule: User is 33', 'rule: User lives in Oslo'] });
    await night.night();
    expect(await night.profile()).toEqual({
      home: ['night: User lives in Oslo'],
      family,
      other: ['rule: User is 33'],
    });
    const shown = JSON.stringify(night.chat.calls.find(({ name }) => name === 'choose_slots')?.user);
    expect(shown).not.toMatch(/brother|Lisbon/);
    expect((await planOf(night))?.night?.acts).toMatchObject([
      { act: 'profile', slot: 'home', before: 'User lives in Oslo', after: 'User lives in Oslo', decidedBy: 'model' },
    ]);
  });

  test('asks nothing twice, and all anew once the slots are others', async () => {
    const night = await bench();
    await say(night, 'User lives in Oslo', 'User is 33');
    await night.night();
    await say(night, 'User was in Lisbon');
    for (let nth = 0; nth < 3; nth += 1) await night.night();
    expect(night.asked()).toBe(1);
    const { settings } = night.deps.ledger;
    const slots = [{ name: 'age', about: 'How old they are', lines: 1, categories: [] }];
    await settings.put(TENANT, { ...(await settings.get(TENANT)), profileSlots: slots });
    await say(night, 'User saw Lisbon');
    await night.night();
    expect(night.asked()).toBe(2);
  });

  test('has what a tenant’s own category decides, by rule', async () => {
    const slots = [{ name: 'fleet', about: 'Their boats', lines: 5, categories: ['boats'] }];
    const night = await bench(byWord, { profileSlots: slots, categories: ['boats', 'personal_details'] });
    await say(night, 'User has a boat called Else');
    expect(await night.profile()).toEqual({});
    await night.night();
    expect(await night.profile()).toEqual({ fleet: ['night: User has a boat called Else'] });
    expect([night.asked(), (await planOf(night))?.night?.acts[0]?.decidedBy]).toEqual([0, 'rule']);
  });

  test('loses a line with what says so: corrected, deleted, undone; and has it again once that is redone', async () => {
    const night = await bench(choosing(() => 'languages'));
    const writer = memoryWriter(night.deps);
    await say(night, 'User speaks Norwegian', 'User speaks Sami', 'User speaks Kven');
    await night.night();
    const all = ['night: User speaks Kven', 'night: User speaks Sami', 'night: User speaks Norwegian'];
    expect(await night.profile()).toEqual({ languages: all });
    const id = (await nights(night))[0]?.id ?? '';
    const { undo } = done(await undoer(night.deps).undo(TENANT, id, { cascade: false, dryRun: false }));
    await night.night();
    expect((await night.profile()).languages).toBeUndefined();
    done(await undoer(night.deps).redo(TENANT, undo?.id ?? '', { dryRun: false }));
    expect(await night.profile()).toEqual({ languages: all });
    await writer.change(TENANT, await night.idOf('User speaks Sami'), { text: 'User speaks Northern Sami' });
    await writer.remove(TENANT, await night.idOf('User speaks Kven'));
    expect(await night.profile()).toEqual({
      languages: ['night: User speaks Norwegian'],
      other: ['rule: User speaks Northern Sami'],
    });
    await night.night();
    expect((await night.profile()).languages).toEqual(['night: User speaks Northern Sami', all[2]]);
  });

  test('keeps its lines when they are said again, and waits for nobody because of them alone', async () => {
    const night = await bench(choosing(() => 'likes'));
    await say(night, ...Array.from({ length: 12 }, (_, i) => `User is fond of thing ${i}`));
    await night.night();
    expect((await nights(night)).map(({ state }) => state)).toEqual(['applied']);
    expect((await night.profile()).likes).toHaveLength(12);
    await memoryWriter(night.deps).change(TENANT, await night.idOf('User is fond of thing 3'), {
      metadata: { seen: true },
    });
    expect((await night.profile()).likes).toHaveLength(12);
  });

  test('has the lines of people first, whatever nights find; they leave those as they are', async () => {
    const night = await bench(choosing(() => 'home'));
    const deps = { ...night.deps, writer: memoryWriter(night.deps) };
    await say(night, 'User lives in Oslo');
    await night.night();
    for (const text of ['User will live in Rome on 2026-03-20', 'User has a flat in Bergen']) {
      night.tools.advance(60_000);
      await putLine(deps, ANN, { slot: 'home', line: { text } });
    }
    const own = ['person: User has a flat in Bergen', 'person: User will live in Rome on 2026-03-20'];
    expect((await night.profile()).home).toEqual(own);
    await say(night, 'User moved to Bodø');
    for (let nth = 0; nth < 3; nth += 1) await night.night(24 * 200);
    expect((await night.profile()).home).toEqual(own);
    expect(await putLine(deps, ANN, { slot: 'home', line: { text: 'one more' } })).toEqual({ kind: 'full', lines: 2 });
    await takeLine(deps, ANN, { slot: 'home', memoryId: await night.idOf('User has a flat in Bergen') });
    expect((await night.profile()).home).toEqual([own[1], 'night: User moved to Bodø']);
    expect(await night.live()).toContain('User has a flat in Bergen');
  });

  test('is not given back what a person took out', async () => {
    const night = await bench();
    const deps = { ...night.deps, writer: memoryWriter(night.deps) };
    await say(night, 'User lives in Oslo', 'User has a brother');
    await takeLine(deps, ANN, { slot: 'family', memoryId: await night.idOf('User has a brother') });
    await takeLine(deps, ANN, { slot: 'other', memoryId: await night.idOf('User lives in Oslo') });
    await night.night();
    expect([await night.profile(), night.asked()]).toEqual([{}, 0]);
    const line = { memoryId: await night.idOf('User lives in Oslo') };
    await putLine(deps, ANN, { slot: 'home', line });
    expect(await night.profile()).toEqual({ home: ['person: User lives in Oslo'] });
  });

  test('refuses what a model makes up, with reasons', async () => {
    const night = await bench(({ memories }) => ({
      places: [
        { id: '99', slot: 'home' },
        { id: '0', slot: 'secrets' },
        ...(memories as unknown as Shown[]).flatMap(({ id }) => [
          { id, slot: 'home' },
          { id, slot: 'work' },
        ]),
      ],
    }));
    await say(night, 'User lives in Oslo');
    await night.night();
    expect(await night.profile()).toEqual({ home: ['night: User lives in Oslo'] });
    expect((await planOf(night))?.remarks.map(({ did }) => did)).toEqual([
      'refused: it names a memory that was not shown',
      'refused: there is no such slot',
      'refused: it already has a slot',
    ]);
  });
});

describe('a line of a person', () => {
  test('corrects the one before in a slot with one line, and names no memory of others', async () => {
    const slots = [{ name: 'nick', about: 'What they are called', lines: 1, categories: [] }];
    const night = await bench(byWord, { profileSlots: slots });
    const deps = { ...night.deps, writer: memoryWriter(night.deps) };
    await putLine(deps, ANN, { slot: 'nick', line: { text: 'Ann is called Annie' } });
    await putLine(deps, ANN, { slot: 'nick', line: { text: 'Ann is called Nan' } });
    await putLine(deps, ANN, { slot: 'nick', line: { text: 'Ann is called Nan' } });
    expect(await night.profile()).toEqual({ nick: ['person: Ann is called Nan'] });
    expect((await night.memories()).map(({ versions }) => versions.length)).toEqual([2]);
    const bob = { tenant: TENANT, userId: 'bob' };
    const line = { memoryId: await night.idOf('Ann is called Nan') };
    expect(await putLine(deps, bob, { slot: 'nick', line })).toEqual({ kind: 'not_found' });
    expect(await takeLine(deps, bob, { slot: 'nick', ...line })).toEqual({ kind: 'not_found' });
    expect(await putLine(deps, ANN, { slot: 'other', line })).toEqual({ kind: 'no_slot', names: ['nick'] });
  });
});

test('a worker that is killed between any two calls of ports leaves what the next one makes the same: places, and what runs came to', async () => {
  const scene = async () => {
    const night = await bench();
    await say(night, 'User lives in Oslo', 'User speaks Sami');
    const {
      tools,
      deps: { ledger },
    } = night;
    const lane = await ledger.memories.laneOf(TENANT, { kind: 'user', id: 'ann' }, tools.now());
    const run = {
      tenant: TENANT,
      lane,
      runId: 'plants',
      appId: null,
      document: { goal: 'Water the plants' },
      key: null,
    };
    await ledger.taskStates.write({ ...run, expected: 0, ends: true, now: tools.now() });
    tools.advance(24 * 3_600_000);
    return { night, lane };
  };
  const clean = await scene();
  await clean.night.night(0);
  const expected = [await clean.night.profile(), await clean.night.live(), await clean.night.hash()];
  expect(expected[0]).toEqual({ home: ['night: User lives in Oslo'], languages: ['night: User speaks Sami'] });
  expect(expected[1]).toContain('Task: Water the plants.');
  let calls = 0;
  for (let ended = false; !ended; calls += 1) {
    const { night, lane } = await scene();
    const process = mortal(night.deps, deathAfter(calls));
    await sleepLane({ ...process.deps, slept: () => {}, takeOverMs: 60_000 })(lane, NEVER).catch(() => null);
    ended = process.calls.length < calls;
    night.tools.advance(180_000);
    await night.night(0);
    const where = `killed after ${process.calls[calls - 1]}`;
    expect([await night.profile(), await night.live(), await night.hash()], where).toEqual(expected);
    expect(night.asked(), where).toBeLessThanOrEqual(2);
    await expectTrue(night.deps.ledger);
  }
  expect(calls, 'calls of ports in one night').toBeGreaterThan(15);
});
