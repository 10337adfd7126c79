import { createMemoryLedger, type FixedTools, fixedTools, memoryDirectory, mortal } from '@slowwave/engine-testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { afford, type Purse } from '../../models/limits.ts';
import type { CellDirectory, ShareCells } from '../../ports/cells.ts';
import { type Budgets, DEFAULT_SETTINGS } from '../../settings.ts';
import { DAY_MS, dayOf } from '../../text/dates.ts';
import { DEFAULT_TENANT } from '../../words.ts';
import { shareHere, shareOut, takeShare } from '../share-out.ts';
import { partAt } from '../shares.ts';

const TENANT = DEFAULT_TENANT;
const CELLS = ['a', 'b', 'c'] as const;
type Name = (typeof CELLS)[number];
const BUDGET = 1_000;
/** Of one call. */
const TOKENS = 5;
/** Clocks differ. */
const SKEW_MS = { a: 0, b: 240_000, c: -240_000 };

interface FakeCell extends Purse {
  /** Tokens by day, as its own clock has it. */
  readonly used: Map<number, number>;
  /** The same in money. */
  readonly spent: Map<number, number>;
  /** Of a token. */
  readonly price: number;
  /** It works, and nobody reaches it. */
  isCutOff: boolean;
}

type Fate = 'lost' | 'unanswered' | 'late' | null;

interface World {
  readonly tools: FixedTools;
  readonly directory: CellDirectory;
  readonly cells: Record<Name, FakeCell>;
  readonly shares: ShareCells;
  /** What becomes of the next messages: lost before they arrive, or the answer is, or they arrive long after nobody waits for them. */
  readonly fates: Fate[];
  readonly late: (() => Promise<unknown>)[];
}

/** Of tokens, or of money, of which each token costs one; of both, what a token costs differs from cell to cell. */
const LIMITS = {
  tokens: { tokensPerDay: BUDGET },
  money: { costPerDay: BUDGET },
  both: { tokensPerDay: BUDGET, costPerDay: BUDGET },
};
const PRICES = { a: 0, b: 1, c: 3 };
const DEAREST = Math.max(...Object.values(PRICES));

/** Real ledgers in memory, each with a clock of its own. Only the first has been alone; the others have taken over a copy of what the tenant has chosen. */
async function world(limits: Partial<Budgets> = LIMITS.tokens): Promise<World> {
  const tools = fixedTools();
  const directory = memoryDirectory();
  const made = await Promise.all(
    CELLS.map(async (name) => {
      const own = { ...tools, now: () => tools.now() + SKEW_MS[name] };
      const ledger = createMemoryLedger({ tools: own });
      await ledger.settings.put(TENANT, {
        ...DEFAULT_SETTINGS,
        budgets: { ...DEFAULT_SETTINGS.budgets, ...limits },
      });
      const nothing = { epoch: 0, part: 0, until: 0, day: 0, limits: '', elsewhere: 0, isLast: false, wantsAt: 0 };
      if (name !== 'a') await ledger.shares.take(TENANT, { ...nothing, wants: true });
      const settings = { ceilings: { tokensPerDay: null, costPerDay: null } };
      const price = limits === LIMITS.both ? PRICES[name] : 1;
      return [
        name,
        { ledger, tools: own, settings, used: new Map(), spent: new Map(), price, isCutOff: false },
      ] as const;
    }),
  );
  for (const name of CELLS) await directory.addCell({ name, url: `http://${name}` });
  const cells = Object.fromEntries(made) as unknown as Record<Name, FakeCell>;
  const fates: Fate[] = [];
  const late: World['late'] = [];
  const reached = async <T>(name: string, work: (cell: FakeCell) => Promise<T>): Promise<T> => {
    const cell = cells[name as Name];
    const fate = fates.shift() ?? null;
    if (fate === 'late') late.push(() => work(cell));
    if (cell.isCutOff || fate === 'lost' || fate === 'late') throw new Error(`${name} does not answer`);
    const answer = await work(cell);
    if (fate === 'unanswered') throw new Error(`the answer of ${name} is lost`);
    return answer;
  };
  const shares: ShareCells = {
    read: (name, tenant) => reached(name, (cell) => shareHere(cell, tenant)),
    tell: (name, tenant, told) => reached(name, (cell) => takeShare(cell, tenant, told)),
  };
  return { tools, directory, cells, shares, fates, late };
}

/** The tenant has chosen another one, and all cells know. */
async function budget({ cells }: World, tokensPerDay: number): Promise<void> {
  for (const { ledger } of Object.values(cells))
    await ledger.settings.put(TENANT, { ...DEFAULT_SETTINGS, budgets: { ...DEFAULT_SETTINGS.budgets, tokensPerDay } });
}

/** A model is asked, if the cell may. */
async function call({ cells }: Pick<World, 'cells'>, name: Name): Promise<boolean> {
  const cell = cells[name];
  const terms = await cell.ledger.settings.terms(TENANT);
  try {
    await afford(cell, { tenant: TENANT, account: { strangersOf: TENANT }, terms });
  } catch {
    return false;
  }
  const at = cell.tools.now();
  const usage = { promptTokens: TOKENS, completionTokens: 0 };
  const of = { tenant: TENANT, lane: null, consolidationId: null, appId: null, keyId: null };
  const sent = {
    ...of,
    id: cell.tools.id('cal'),
    step: 'extract',
    cause: 'live',
    model: 'm',
    usage,
    cost: TOKENS * cell.price,
    at,
  } as const;
  await cell.ledger.usage.settle([{ ...sent, outcome: 'answered', noted: null, tookMs: 1 }]);
  cell.used.set(dayOf(at), (cell.used.get(dayOf(at)) ?? 0) + TOKENS);
  cell.spent.set(dayOf(at), (cell.spent.get(dayOf(at)) ?? 0) + TOKENS * cell.price);
  return true;
}

/** As a router looks for cells that want more. */
async function look(world: World, death: { at: number; when: 'before' | 'after' } | null = null): Promise<void> {
  const { directory, shares, tools } = world;
  const deps = { directory, cells: shares, tools };
  const mine = death === null ? deps : mortal(deps, death).deps;
  for (const name of CELLS) {
    const { ledger, isCutOff } = world.cells[name];
    if (isCutOff || (await ledger.shares.wanting(1)).length === 0) continue;
    await shareOut(mine, TENANT, name).catch(() => {});
  }
}

/** All together never may use more than the whole, and on no day have, but for calls that were allowed while there was room. */
async function expectOnce({ cells }: World): Promise<void> {
  let sum = 0;
  const [days, money] = [new Map<number, number>(), new Map<number, number>()];
  for (const name of CELLS) {
    const { ledger, tools, used, spent } = cells[name];
    const held = await ledger.shares.held(TENANT);
    sum += held === null ? 1 : partAt(held, tools.now());
    for (const [day, tokens] of used) days.set(day, (days.get(day) ?? 0) + tokens);
    for (const [day, cost] of spent) money.set(day, (money.get(day) ?? 0) + cost);
  }
  expect(sum).toBeLessThanOrEqual(1 + 1e-9);
  const beyond = (CELLS.length + AT_ONCE) * TOKENS;
  for (const tokens of days.values()) expect(tokens).toBeLessThan(BUDGET + beyond);
  for (const cost of money.values()) expect(cost).toBeLessThan(BUDGET + beyond * DEAREST);
}

/** Each of those that call at once may make one call more, since all of them saw the same room. */
const AT_ONCE = 4;
const CALLS_IN_A_ROW = 30;
const anyCell = fc.constantFrom(...CELLS);
const anyDeath = fc.record({ at: fc.nat({ max: 12 }), when: fc.constantFrom('before', 'after') } as const);
const anyHappening = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('calls' as const),
      cell: anyCell,
      times: fc.integer({ min: 1, max: 80 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('look' as const),
      death: fc.option(anyDeath),
      fates: fc.array(fc.constantFrom<Fate>('lost', 'unanswered', 'late', null), { maxLength: 8 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('at once' as const), cells: fc.array(anyCell, { maxLength: AT_ONCE }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('arrive late' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('midnight' as const), minutes: fc.integer({ min: -6, max: 6 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const), cell: anyCell, off: fc.boolean() }) },
);
const anyLimits = fc.constantFrom('tokens', 'money', 'both');
type Happening = typeof anyHappening extends fc.Arbitrary<infer One> ? One : never;

async function happen(world: World, one: Happening, scheduler: fc.Scheduler): Promise<void> {
  switch (one.kind) {
    case 'calls':
      for (let n = 0; n < one.times; n += 1) await call(world, one.cell);
      return;
    case 'look':
      world.fates.splice(0, world.fates.length, ...one.fates);
      return look(world, one.death);
    case 'arrive late':
      for (const arrive of world.late.splice(0)) await arrive();
      return;
    case 'midnight': {
      const at = (dayOf(world.tools.now()) + 1) * DAY_MS + one.minutes * 60_000;
      return world.tools.advance(at - world.tools.now());
    }
    case 'wait':
      return world.tools.advance(one.hours * 3_600_000);
    case 'cut':
      world.cells[one.cell].isCutOff = one.off;
      return;
    case 'at once': {
      // Two routers, while cells work: in any order.
      const { directory, shares } = world;
      const scheduled = <T extends object>(deps: T): T =>
        new Proxy(deps, {
          get: (target, name) => {
            const method = Reflect.get(target, name);
            return typeof method === 'function' ? scheduler.scheduleFunction(method.bind(target)) : method;
          },
        });
      const mine = { ...world, directory: scheduled(directory), shares: scheduled(shares) };
      const calling = scheduler.scheduleFunction(async (name: Name) => {
        for (let n = 0; n < CALLS_IN_A_ROW; n += 1) await call(world, name);
      });
      const work = Promise.all([look(mine), look(mine), ...one.cells.map(calling)]);
      await scheduler.waitFor(work);
    }
  }
}

it('what a tenant may use is used once, whoever has it, is cut off, or is killed, and whatever is lost on its way', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyLimits,
      fc.array(anyHappening, { maxLength: 30 }),
      fc.scheduler(),
      async (limits, happenings, scheduler) => {
        const here = await world(LIMITS[limits]);
        for (const one of happenings) {
          await happen(here, one, scheduler);
          await expectOnce(here);
        }
      },
    ),
    { numRuns: 200 },
  );
});

/** Calls of a cell while routers look for who wants more; how many it could make. */
async function spend(world: World, name: Name, times: number): Promise<number> {
  let made = 0;
  for (let n = 0; n < times; n += 1) {
    made += (await call(world, name)) ? 1 : 0;
    await look(world);
  }
  return made;
}

const ALL_OF_IT = BUDGET / TOKENS;

it.each([
  ['one cell alone', ['b'], 'tokens'],
  ['a cell after another', ['a', 'c'], 'tokens'],
  ['all in turns', ['a', 'b', 'c', 'a', 'b', 'c'], 'tokens'],
  ['all in turns', ['a', 'b', 'c', 'a', 'b', 'c'], 'money'],
] as const)('%s can use nearly all of it: %s, %s', async (_, names, what) => {
  const here = await world(LIMITS[what]);
  await look(here);
  let made = 0;
  for (const name of names) made += await spend(here, name, Math.ceil(ALL_OF_IT / names.length));
  made += await spend(here, names.at(-1) ?? 'a', 2 * ALL_OF_IT);
  expect(made / ALL_OF_IT).toBeGreaterThan(0.95);
  await expectOnce(here);
  here.tools.advance(DAY_MS);
  expect(await spend(here, 'a', 2 * ALL_OF_IT)).toBeGreaterThan(0.95 * ALL_OF_IT);
  await expectOnce(here);
});

it('a cell that is cut off keeps what it has until its lease is over, and then others have it', async () => {
  const here = await world();
  await look(here);
  await spend(here, 'b', ALL_OF_IT / 2);
  here.cells.b.isCutOff = true;
  const left = await spend(here, 'c', 2 * ALL_OF_IT);
  expect(left).toBeLessThan(ALL_OF_IT / 2);
  await expectOnce(here);
  here.tools.advance(2 * DAY_MS);
  expect(await spend(here, 'c', 2 * ALL_OF_IT)).toBeGreaterThan(0.95 * ALL_OF_IT);
  expect(await spend(here, 'b', 10)).toBeLessThanOrEqual(1);
  await expectOnce(here);
});

it('a cell keeps what it has used, and hears nothing that is older than what it has, or about another day', async () => {
  const { cells, tools } = await world();
  const day = dayOf(tools.now());
  const say = (epoch: number, part: number, on = day) =>
    takeShare(cells.a, TENANT, {
      ...{ epoch, part, day: on, until: tools.now() + 2 * DAY_MS, elsewhere: 0, isLast: false },
    });
  for (let n = 0; n < ALL_OF_IT / 4; n += 1) await call({ cells }, 'a');
  expect(await say(2, 0.125)).toMatchObject({ epoch: 2, part: 0.25, used: 0.25 });
  expect(await say(1, 0.875)).toMatchObject({ epoch: 2, part: 0.25 });
  expect(await say(3, 0.875, day - 1)).toMatchObject({ epoch: 2, part: 0.25 });
  tools.advance(DAY_MS);
  expect(await say(3, 0, day)).toMatchObject({ epoch: 2, part: 0.25, used: 0, day: day + 1 });
});

it('of a budget that is lowered nobody uses a part before it is known what others have used', async () => {
  const here = await world();
  await look(here);
  await spend(here, 'b', 1);
  expect(await spend(here, 'a', ALL_OF_IT / 4)).toBe(ALL_OF_IT / 4);
  expect(await call(here, 'b')).toBe(true);
  await budget(here, BUDGET / 4);
  expect(await call(here, 'b')).toBe(false);
  await look(here);
  expect(await call(here, 'b')).toBe(false);
  await budget(here, BUDGET);
  expect(await spend(here, 'b', ALL_OF_IT)).toBeGreaterThan(0.6 * ALL_OF_IT);
  await expectOnce(here);
});

it('nothing is taken from a cell of which another day is known', async () => {
  const here = await world();
  await look(here);
  await spend(here, 'c', ALL_OF_IT / 2);
  const before = await shareHere(here.cells.c, TENANT);
  here.tools.set((dayOf(here.tools.now()) + 1) * DAY_MS);
  expect((await shareHere(here.cells.c, TENANT)).day).toBe(before.day);
  await spend(here, 'a', 2 * ALL_OF_IT);
  expect((await shareHere(here.cells.c, TENANT)).part).toBe(before.part);
});

it('a cell of which nothing is known yet asks no model', async () => {
  const here = await world();
  expect(await call(here, 'b')).toBe(false);
  await look(here);
  expect(await call(here, 'b')).toBe(true);
});

it('where only users have budgets nothing is shared, and no cell waits for another', async () => {
  const here = await world({ userTokensPerDay: BUDGET });
  here.cells.a.isCutOff = true;
  await look(here);
  expect(await here.cells.b.ledger.shares.held(TENANT)).toMatchObject({ part: 0 });
  expect(await call(here, 'b')).toBe(true);
  expect(await shareHere(here.cells.b, TENANT)).toMatchObject({ used: 0, wants: false });
  expect(await here.cells.b.ledger.shares.wanting(1)).toEqual([]);
});
