import { done, fakeChat, type NightBench, nightBench } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { liveVersion } from '../memories/evolve.ts';
import { memoryWriter } from '../memories/write.ts';
import type { Act } from '../plan.ts';
import { DEFAULT_SETTINGS, type SleepSettings } from '../settings.ts';
import { undoer } from '../undo/undo.ts';
import { DEFAULT_TENANT, type Memory } from '../words.ts';

const TENANT = DEFAULT_TENANT;
const ALL = { limit: 100, cursor: null };
const SCOPE = { userId: 'ann', agentId: null, runId: null, appId: null };
const SLOW = 'Booked a train: 1. searched the timetable 2. compared prices by hand 3. paid by card';
const FAST = 'Booked a train: 1. searched the timetable 2. took the cheapest price 3. paid by card';
const OTHER = 'Filed the tax return: 1. fetched the statements 2. filled in the form';

const bench = (sleep: Partial<SleepSettings> = {}): Promise<NightBench> => nightBench({ chat: fakeChat({}) }, sleep);

const none = { metadata: {}, immutable: false, expiresAt: null, validFrom: null };

async function recorded(night: NightBench, text: string): Promise<Memory> {
  night.tools.advance(60_000);
  await memoryWriter(night.deps).add(TENANT, { ...none, scope: SCOPE, text, category: 'procedural' });
  return memoryOf(night, text);
}

async function memoryOf(night: NightBench, text: string): Promise<Memory> {
  const found = (await night.memories()).find((memory) => memory.versions.some((version) => version.text === text));
  if (found === undefined) throw new Error(`no memory says ${text}`);
  return found;
}

let answers = 0;

/** An answer told a memory as it reads, and this became of it. */
async function told(night: NightBench, { id, lane, versions }: Memory, outcome: 'good' | 'bad'): Promise<string> {
  answers += 1;
  const receipt = `rcp_${answers}`;
  const { receipts } = night.deps.ledger;
  const asked = { route: 'search', scope: SCOPE, ownApp: false, question: 'how?', filters: null, asOf: null } as const;
  const of = { id: receipt, tenant: TENANT, lane, at: night.tools.now(), position: 0, ...asked };
  await receipts.append([{ ...of, told: [{ kind: 'memory', id, version: versions.at(-1)?.number ?? 0 }] }]);
  await receipts.judge(TENANT, receipt, { outcome, now: night.tools.now() });
  return receipt;
}

async function toldOften(night: NightBench, of: Memory, { good, bad = 0 }: { good: number; bad?: number }) {
  for (let i = 0; i < good; i += 1) await told(night, of, 'good');
  for (let i = 0; i < bad; i += 1) await told(night, of, 'bad');
}

async function skills(night: NightBench): Promise<readonly [string, number][]> {
  return (await night.memories()).flatMap((memory): [string, number][] => {
    const live = liveVersion(memory);
    return live?.details.skill === undefined ? [] : [[live.text, live.details.skill.successes]];
  });
}

const nights = async ({ deps }: NightBench) => (await deps.ledger.nights.list(TENANT, {}, ALL)).results;

async function actsOf(night: NightBench): Promise<readonly Act[]> {
  const [record] = await nights(night);
  return (await night.deps.ledger.thoughts.plan(record?.id ?? ''))?.night?.acts ?? [];
}

test('a procedure that went well three times becomes a skill, with the answers that say so, and no model is asked', async () => {
  const night = await bench();
  const slow = await recorded(night, SLOW);
  await toldOften(night, await recorded(night, OTHER), { good: 2 });
  await toldOften(night, slow, { good: 3, bad: 1 });
  await night.night();
  expect(await skills(night)).toEqual([[SLOW, 3]]);
  const [act] = await actsOf(night);
  expect(act).toMatchObject({ act: 'skills', before: null, after: SLOW, decidedBy: 'rule', asks: false });
  expect(act?.reason).toMatch(/3 went well and 1 badly: rcp_\d+/u);
  expect(act?.evidence).toEqual([{ memoryId: slow.id, text: SLOW }]);
  expect((await night.memories()).find(({ id }) => id === slow.id)?.updatedAt).toBe(slow.updatedAt);
});

test('a better procedure for the same task takes its place, and the former one stays as a record', async () => {
  const night = await bench();
  await toldOften(night, await recorded(night, SLOW), { good: 4, bad: 1 });
  await night.night();
  await toldOften(night, await recorded(night, FAST), { good: 4 });
  await toldOften(night, await recorded(night, OTHER), { good: 3 });
  await night.night();
  expect((await skills(night)).map(([text]) => text).sort()).toEqual([FAST, OTHER].sort());
  expect(await actsOf(night)).toContainEqual(expect.objectContaining({ act: 'skills', before: SLOW, after: FAST }));
  expect(await night.live()).toEqual([FAST, OTHER, SLOW].sort());
});

test('outcomes are news: a procedure that fails too often is no skill any more', async () => {
  const night = await bench();
  const slow = await recorded(night, SLOW);
  await toldOften(night, slow, { good: 3 });
  await night.night();
  await toldOften(night, slow, { good: 0, bad: 2 });
  await night.night();
  expect(await skills(night)).toEqual([]);
  expect(await actsOf(night)).toMatchObject([{ act: 'skills', before: SLOW, after: null }]);
  expect(await night.live()).toEqual([SLOW]);
});

test('it is undone with its night and does not come back; nights without news do nothing', async () => {
  const night = await bench();
  await toldOften(night, await recorded(night, SLOW), { good: 3 });
  const before = await night.hash();
  await night.night();
  const after = await night.hash();
  for (let nth = 0; nth < 5; nth += 1) await night.night();
  expect(await night.hash()).toBe(after);
  const [record] = await nights(night);
  done(await undoer(night.deps).undo(TENANT, record?.id ?? '', { cascade: false, dryRun: false }));
  expect(await night.hash()).toBe(before);
  await toldOften(night, await recorded(night, OTHER), { good: 3 });
  await night.night();
  expect(await skills(night)).toEqual([[OTHER, 3]]);
});

test.each([
  ['deleted', (night: NightBench, id: string) => memoryWriter(night.deps).remove(TENANT, id)],
  ['corrected', (night: NightBench, id: string) => memoryWriter(night.deps).change(TENANT, id, { text: OTHER })],
])('it falls at once when the procedure is %s', async (_, change) => {
  const night = await bench();
  const slow = await recorded(night, SLOW);
  await toldOften(night, slow, { good: 3 });
  await night.night();
  expect(await skills(night)).toHaveLength(1);
  await change(night, slow.id);
  expect(await skills(night)).toEqual([]);
});

test('it is settable by itself', async () => {
  const acts = { ...DEFAULT_SETTINGS.sleep.acts, skills: false };
  const night = await bench({ acts });
  await toldOften(night, await recorded(night, SLOW), { good: 3 });
  await night.night();
  expect(await skills(night)).toEqual([]);
});
