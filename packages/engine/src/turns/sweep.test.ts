import {
  createMemoryLedger,
  echoExtract,
  engineBench,
  fakeChat,
  fixedTools,
  newBatch,
  scope,
} from '@slowwave/engine-testing';
import { expect, it, test } from 'vitest';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { Nudge, Schedule, TurnName, TurnState } from '../ports/schedule.ts';
import type { LaneId, Priority } from '../words.ts';
import { laneSweep, rebuildQueue } from './sweep.ts';

const MINUTE_MS = 60_000;

/** A schedule that knows what it was told, and what it was asked to hurry. */
function scheduleOf(states: Readonly<Record<string, TurnState>> = {}) {
  const nudged: Nudge[] = [];
  const hurried: string[] = [];
  const schedule: Schedule = {
    nudge: async (nudges) => void nudged.push(...nudges),
    statesOf: async (turns) =>
      turns.map(({ lane }) => (nudged.some((nudge) => nudge.lane === lane) ? 'scheduled' : (states[lane] ?? 'absent'))),
    hurry: async ({ lane }) => {
      if (hurried.includes(lane)) return false;
      hurried.push(lane);
      return true;
    },
    forgetFailed: async () => {},
    check: async () => {},
    close: async () => {},
  };
  return { schedule, nudged, hurried };
}

/** A ledger in which every user's lane is due. */
async function dueLanes(users: number, priority: Priority = 'live') {
  const tools = fixedTools();
  const ledger = createMemoryLedger({ tools });
  for (let i = 0; i < users; i++) {
    const batch = newBatch(tools, { scope: scope({ userId: `u${i}` }), flush: true, priority });
    await ledger.batches.append(batch, { tokens: 1_000, idleMs: MINUTE_MS, maxAgeMs: MINUTE_MS });
  }
  return { ledger, tools };
}

/** Takes the one lane that is due. */
async function taken({ lanes }: Ledger, now: number): Promise<Turn> {
  const [due] = await lanes.due(now, 1);
  const claim = await lanes.claim(due ?? { lane: '' as LaneId, generation: 0 }, {
    newConsolidationId: 'con_1',
    now,
    window: { maxTokens: 1_000, maxBatches: 10 },
  });
  if (claim.kind !== 'claimed') throw new Error(`expected a turn, got ${claim.kind}`);
  return claim.turn;
}

/** Takes it, and has it wait until then. */
const putOff = async (ledger: Ledger, now: number, until: number): Promise<void> =>
  ledger.lanes.release(await taken(ledger, now), until);

test('due lanes the queue knows nothing of are scheduled, others are left alone', async () => {
  const deps = await dueLanes(3);
  const [first] = await deps.ledger.lanes.due(deps.tools.now(), 1);
  const { schedule, nudged } = scheduleOf({ [first?.lane ?? '']: 'active' });
  const sweep = laneSweep(deps, schedule);
  expect(await sweep()).toBe(2);
  expect(nudged).not.toContainEqual(first);
  expect(await sweep()).toBe(0);
});

test('what the queue has is asked about seldom, until some of it is gone', async () => {
  const deps = await dueLanes(300);
  const { schedule } = scheduleOf();
  const asked: number[] = [];
  let isWiped = false;
  const sweep = laneSweep(deps, {
    ...schedule,
    statesOf: async (turns) => {
      asked.push(turns.length);
      return isWiped ? turns.map(() => 'absent' as const) : schedule.statesOf(turns);
    },
  });
  const second = async () => {
    asked.length = 0;
    deps.tools.advance(1_000);
    return { scheduled: await sweep(), asked: asked.reduce((sum, count) => sum + count, 0) };
  };
  expect(await second()).toEqual({ scheduled: 300, asked: 300 });
  expect(await second()).toEqual({ scheduled: 0, asked: 300 }); // those were absent when it asked
  for (let i = 0; i < 5; i += 1) expect(await second()).toEqual({ scheduled: 0, asked: 100 });
  isWiped = true;
  expect(await second()).toEqual({ scheduled: 300, asked: 300 });
});

test.each([
  ['by this process', true],
  ['by another one', false],
])('nobody waits for a clock that was ahead, as seen %s', async (_by, isOwn) => {
  const tools = fixedTools();
  const ledger = createMemoryLedger({ tools });
  const { schedule, nudged } = scheduleOf();
  const sweep = laneSweep({ ledger, tools }, schedule);
  await sweep();
  const right = tools.now();
  tools.advance(24 * 60 * MINUTE_MS);
  if (isOwn) await sweep();
  await ledger.batches.append(newBatch(tools), { tokens: 1_000, idleMs: MINUTE_MS, maxAgeMs: MINUTE_MS });
  tools.set(right + 10_000);
  expect(await sweep()).toBe(1);
  expect(nudged).toMatchObject([{ dueAt: right + 10_000 }]);
});

test.each([
  ['started again', false],
  ['running beside it', true],
])(
  'what a process named whose clock was ahead when it was killed is waited for by none that is %s',
  async (_how, beside) => {
    const { ledger, tools } = await dueLanes(1);
    const other = laneSweep({ ledger, tools }, scheduleOf().schedule);
    if (beside) await other();
    const right = tools.now();
    const day = right + 24 * 60 * MINUTE_MS;
    tools.set(day);
    await laneSweep({ ledger, tools }, scheduleOf().schedule)();
    await putOff(ledger, day, day + MINUTE_MS);
    for (const seconds of [11, 22, 33, 44, 55, 66]) {
      tools.set(right + seconds * 1_000);
      await other();
    }
    expect(await ledger.lanes.due(tools.now(), 10)).toHaveLength(1);
  },
);

test('a time of before that a turn writes just after its clock was set back is waited for by nobody', async () => {
  const { ledger, tools } = await dueLanes(1);
  const sweep = laneSweep({ ledger, tools }, scheduleOf().schedule);
  const right = tools.now();
  const day = right + 24 * 60 * MINUTE_MS;
  tools.set(day);
  await sweep();
  const turn = await taken(ledger, day);
  tools.set(right + 1_000);
  await sweep();
  await ledger.lanes.release(turn, day + MINUTE_MS);
  tools.advance(11_000);
  await sweep();
  expect(await ledger.lanes.due(tools.now(), 10)).toHaveLength(1);
});

test('what a slow process names whose clock goes on being ahead is left to it', async () => {
  const { ledger, tools } = await dueLanes(1);
  const ahead = laneSweep({ ledger, tools }, scheduleOf().schedule);
  const other = laneSweep({ ledger, tools }, scheduleOf().schedule);
  await other();
  const right = tools.now();
  const day = 24 * 60 * MINUTE_MS;
  tools.set(right + day);
  await ahead();
  await putOff(ledger, tools.now(), tools.now() + day);
  for (let looks = 1; looks <= 20; looks += 1) {
    const passed = looks * 11_000;
    tools.set(right + day + passed);
    if (looks % 3 === 0) await ahead(); // a busy one
    tools.set(right + passed);
    await other();
  }
  expect(await ledger.lanes.due(tools.now(), 10)).toEqual([]);
});

test('a lane whose job has ended is scheduled under a new generation', async () => {
  const deps = await dueLanes(1);
  const [due] = await deps.ledger.lanes.due(deps.tools.now(), 1);
  const { schedule, nudged } = scheduleOf({ [due?.lane ?? '']: 'finished' });
  await laneSweep(deps, schedule)();
  expect(nudged).toEqual([{ ...due, generation: 2 }]);
});

test('thousands of lanes that are scheduled do not hide one that is not', async () => {
  const deps = await dueLanes(2_100);
  const all = await deps.ledger.lanes.due(deps.tools.now(), 3_000);
  const lost = all.at(-1)?.lane ?? '';
  const states = Object.fromEntries(all.map(({ lane }) => [lane, lane === lost ? 'absent' : 'scheduled'] as const));
  const { schedule, nudged } = scheduleOf(states);
  const sweep = laneSweep(deps, schedule);
  const found = [await sweep(), await sweep(), await sweep()];
  expect(found).toEqual([0, 0, 1]);
  expect(nudged.map(({ lane }) => lane)).toEqual([lost]);
});

test('backfill that has waited for long gets one turn a pass before live work', async () => {
  const deps = await dueLanes(3, 'backfill');
  const { schedule, hurried } = scheduleOf();
  const sweep = laneSweep(deps, schedule);
  await sweep();
  deps.tools.advance(9 * MINUTE_MS);
  await sweep();
  expect(hurried).toEqual([]);
  deps.tools.advance(2 * MINUTE_MS);
  await sweep();
  expect(hurried).toHaveLength(1);
  await sweep();
  expect(hurried).toHaveLength(2);
});

test('live turns that have waited for long are not put before others', async () => {
  const deps = await dueLanes(3);
  const { schedule, hurried } = scheduleOf();
  const sweep = laneSweep(deps, schedule);
  await sweep();
  deps.tools.advance(60 * MINUTE_MS);
  await sweep();
  expect(hurried).toEqual([]);
});

/** A queue that ignores what it is told under a name it has a job of, wherever that job is. */
function deafTo(generation: number) {
  const heard: Nudge[] = [];
  const { schedule } = scheduleOf();
  const deaf: Schedule = {
    ...schedule,
    nudge: async (nudges) => void heard.push(...nudges.filter((nudge) => nudge.generation !== generation)),
    statesOf: async (turns) =>
      turns.map(({ lane }) => (heard.some((nudge) => nudge.lane === lane) ? 'scheduled' : 'absent')),
  };
  return { schedule: deaf, heard };
}

test('a lane whose nudge did not take is nudged under a new generation', async () => {
  const deps = await dueLanes(2);
  const { schedule, heard } = deafTo(1);
  const sweep = laneSweep(deps, schedule);
  await sweep();
  expect(heard).toEqual([]);
  await sweep();
  expect(heard.map(({ generation }) => generation)).toEqual([2, 2]);
  expect(await sweep()).toBe(0);
});

test('of thousands of lanes too, each is given one more chance under its name before it gets a new one', async () => {
  const deps = await dueLanes(1_200);
  const { schedule, heard } = deafTo(1);
  const sweep = laneSweep(deps, schedule);
  expect([await sweep(), await sweep()]).toEqual([1_000, 200]);
  expect(heard).toEqual([]);
  expect([await sweep(), await sweep()]).toEqual([1_000, 200]);
  expect(new Set(heard.map(({ generation }) => generation))).toEqual(new Set([2]));
});

test('a due lane whose turn sleeps is nudged under a new generation, one that is due later is left asleep', async () => {
  const deps = await dueLanes(1);
  const batch = newBatch(deps.tools, { scope: scope({ userId: 'later' }), flush: false });
  await deps.ledger.batches.append(batch, { tokens: 1_000, idleMs: 60 * MINUTE_MS, maxAgeMs: 60 * MINUTE_MS });
  const all = await deps.ledger.lanes.withWork(null, 10);
  const { schedule, nudged } = scheduleOf(Object.fromEntries(all.map(({ lane }) => [lane, 'asleep'] as const)));
  const [due] = await deps.ledger.lanes.due(deps.tools.now(), 10);
  expect(await rebuildQueue(deps, schedule)).toEqual({ lanes: 2, scheduled: 1 });
  expect(nudged).toEqual([{ ...due, generation: 2 }]);
});

/** A queue that knows what it was told, and may be told to forget it, or that a turn is over. */
function listSchedule(): Schedule & { readonly jobs: Map<string, { nudge: Nudge; state: TurnState }> } {
  const jobs = new Map<string, { nudge: Nudge; state: TurnState }>();
  const name = ({ lane, generation }: TurnName): string => `${lane}~${generation}`;
  return {
    jobs,
    nudge: async (nudges) => {
      for (const nudge of nudges) if (!jobs.has(name(nudge))) jobs.set(name(nudge), { nudge, state: 'scheduled' });
    },
    statesOf: async (turns) => turns.map((turn) => jobs.get(name(turn))?.state ?? 'absent'),
    hurry: async () => false,
    forgetFailed: async () => {},
    check: async () => {},
    close: async () => {},
  };
}

it('a queue that lost everything has every lane with work again, due or not; the second time changes nothing', async () => {
  const { deps, post, run } = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
  await post(['a: 1'], { userId: 'done' });
  await run();
  for (let i = 0; i < 600; i += 1) await post([`b: ${i}`], { userId: `user ${i}`, flush: i % 2 === 0 });
  const schedule = listSchedule();
  const seen: number[] = [];
  expect(await rebuildQueue(deps, schedule, ({ lanes }) => seen.push(lanes))).toEqual({ lanes: 600, scheduled: 600 });
  expect(seen).toEqual([500, 600]);
  expect(schedule.jobs.size).toBe(600);
  expect(await rebuildQueue(deps, schedule)).toEqual({ lanes: 600, scheduled: 0 });
});

it('a turn whose job ended without its lane moving on is told anew, under a name that is heard', async () => {
  const { deps, post } = await engineBench({ chat: fakeChat({ extract_facts: echoExtract }) });
  await post(['a: 1']);
  const schedule = listSchedule();
  await rebuildQueue(deps, schedule);
  for (const job of schedule.jobs.values()) job.state = 'finished';
  expect(await rebuildQueue(deps, schedule)).toEqual({ lanes: 1, scheduled: 1 });
  expect([...schedule.jobs.values()].map(({ nudge, state }) => [nudge.generation, state])).toEqual([
    [1, 'finished'],
    [2, 'scheduled'],
  ]);
});
