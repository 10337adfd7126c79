import { type FixedTools, fixedTools, memoryDirectory, mortal, NEVER, recordingLog } from '@slowwave/engine-testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bitsOfKey, ownerKeyOf } from '../ids.ts';
import type { CellDirectory, CellPeers } from '../ports/cells.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { type DirectoryBook, directoryBook, isWithin, type PlacedOwner, SLOTS, type SlotRun } from './book.ts';
import { planDrain } from './handovers.ts';
import { CARRY_LEASE_MS, carryHandover, carryMove, type MoveOutcome, type OwnerMove } from './move-owner.ts';

const TOOLS = fixedTools();
const LONGEST_LEASE_MS = 120_000;
const CELLS = ['a', 'b', 'c'] as const;

const placed = (user: number): PlacedOwner => {
  const named = { tenant: DEFAULT_TENANT, owner: { kind: 'user', id: `user-${user}` } } as const;
  return { ...named, key: ownerKeyOf(TOOLS, named) };
};

interface FakeCell {
  readonly owners: Map<string, { readonly placed: PlacedOwner; readonly posts: readonly number[] }>;
  /** By the key of the owner: a later import of one takes the place of an earlier one. */
  readonly hidden: Map<
    string,
    { readonly placed: PlacedOwner; readonly posts: readonly number[]; readonly id: string }
  >;
  readonly away: Map<string, string>;
  closed: readonly SlotRun[];
  epoch: number;
  dead: boolean;
}

/** Cells as far as moves concern them: owners are lists of numbers. */
function fakeCells() {
  const fake = (): FakeCell => ({
    ...{ owners: new Map(), hidden: new Map(), away: new Map(), closed: [], epoch: 0, dead: false },
  });
  const cells = new Map<string, FakeCell>(CELLS.map((name) => [name, fake()]));
  const alive = (name: string): FakeCell => {
    const cell = cells.get(name);
    if (cell === undefined || cell.dead) throw new Error(`${name} does not answer`);
    return cell;
  };
  const knows = (cell: FakeCell | undefined, key: string): boolean =>
    cell === undefined || cell.dead || cell.owners.has(key) || cell.away.has(key);
  const stampOf = (posts: readonly number[]): string => posts.join(' ');
  const peers: CellPeers = {
    copy: async (move): Promise<MoveOutcome> => {
      const there = alive(move.source).owners.get(move.key);
      if (there === undefined) return { kind: 'absent' };
      const importId = `${move.id} ${move.attempt}`;
      alive(move.destination).hidden.set(move.key, { ...there, id: importId });
      return { kind: 'copied', importId, stamp: stampOf(there.posts) };
    },
    depart: async (move): Promise<MoveOutcome> => {
      const source = alive(move.source);
      if (source.away.get(move.key) === move.destination) return { kind: 'departed' };
      const there = source.owners.get(move.key);
      if (there === undefined) return { kind: 'absent' };
      if (stampOf(there.posts) !== move.copy?.stamp) return { kind: 'changed' };
      source.owners.delete(move.key);
      source.away.set(move.key, move.destination);
      return { kind: 'departed' };
    },
    finish: async (move): Promise<MoveOutcome> => {
      const destination = alive(move.destination);
      const copy = destination.hidden.get(move.key);
      if (copy?.id === move.copy?.importId && copy !== undefined) {
        destination.owners.set(move.key, copy);
        destination.hidden.delete(move.key);
      }
      destination.away.delete(move.key);
      return { kind: 'arrived' };
    },
    throwAway: async (move): Promise<MoveOutcome> => {
      alive(move.destination).hidden.delete(move.key);
      return { kind: knows(cells.get(move.source), move.key) ? 'thrown_away' : 'absent' };
    },
    recall: async (move): Promise<MoveOutcome> => {
      const source = alive(move.source);
      if (source.away.has(move.key)) return { kind: 'departed' };
      return { kind: source.owners.has(move.key) ? 'thrown_away' : 'absent' };
    },
    tellLoss: async (name, { lost, anew }) => {
      const cell = alive(name);
      const gone = anew ? [...cell.away].filter(([, to]) => to === lost) : [];
      for (const [key] of gone) cell.away.delete(key);
      return gone.length;
    },
    tellSlots: async (name, { epoch, closed }) => {
      const cell = alive(name);
      if (epoch >= cell.epoch) [cell.closed, cell.epoch] = [closed, epoch];
    },
    ownersIn: async (name, run) =>
      [...alive(name).owners.values()].map((one) => one.placed).filter(({ key }) => isWithin(bitsOfKey(key), run)),
  };
  /** As a cell takes a post: false if it is not the one to take it. */
  const post = (name: string, owner: PlacedOwner, post: number): boolean => {
    const cell = cells.get(name);
    if (cell === undefined || cell.dead || cell.away.has(owner.key)) return false;
    const there = cell.owners.get(owner.key);
    if (there === undefined && cell.closed.some((run) => isWithin(bitsOfKey(owner.key), run))) return false;
    cell.owners.set(owner.key, { placed: owner, posts: [...(there?.posts ?? []), post] });
    return true;
  };
  return { cells, peers, post };
}

interface World extends ReturnType<typeof fakeCells> {
  readonly directory: CellDirectory;
  readonly tools: FixedTools;
  /** Of a router that is not told of every change. */
  readonly book: DirectoryBook;
  readonly accepted: Map<string, number[]>;
}

async function world(): Promise<World> {
  const directory = memoryDirectory();
  const fake = fakeCells();
  for (const name of CELLS) await directory.addCell({ name, url: `http://${name}` });
  for (const name of CELLS) await fake.peers.tellSlots(name, await directory.slotsOf(name));
  const book = directoryBook();
  book.apply(await directory.changes(0));
  return { ...fake, directory, tools: fixedTools(), book, accepted: new Map() };
}

/** A router: where its copy of the directory says, then where the present one says. Who is not there, and cannot begin there, is nowhere. */
async function post({ book, cells, directory, post, accepted }: World, user: number, number: number): Promise<void> {
  const owner = placed(user);
  for (const isFresh of [false, true, true, true]) {
    if (isFresh) book.apply(await directory.changes(book.epoch()));
    const [cell, seen] = [book.cellOf(owner.key), book.epoch()];
    if (!post(cell, owner, number)) {
      const there = cells.get(cell);
      if (there?.dead === false && (await directory.vacate(cell, [owner.key], seen)) > 0) there.away.delete(owner.key);
      continue;
    }
    accepted.set(owner.key, [...(accepted.get(owner.key) ?? []), number]);
    return;
  }
}

/** Erased where it is; whoever is on the way between two cells has to wait for that. */
function erase({ cells, accepted }: World, user: number): void {
  const { key } = placed(user);
  for (const cell of cells.values()) if (!cell.dead && cell.owners.delete(key)) accepted.delete(key);
}

interface Death {
  readonly at: number;
  readonly when: 'before' | 'after';
}

/** A mover that works on what is due, until it is killed. */
async function carry(world: World, death: Death | null): Promise<void> {
  const { directory, peers, tools } = world;
  const whole = { directory, peers, tools, log: recordingLog() };
  const deps = death === null ? whole : mortal(whole, death).deps;
  const claim = { now: tools.now(), leaseMs: CARRY_LEASE_MS, limit: 100 };
  try {
    for (const handover of await deps.directory.takeHandovers(claim)) await carryHandover(deps, handover, NEVER);
    for (const move of await deps.directory.takeMoves(claim)) await carryMove(deps, move, NEVER);
  } catch {
    // Killed, with all that it held.
  }
  tools.advance(LONGEST_LEASE_MS);
}

async function untilQuiet(world: World): Promise<void> {
  for (let round = 0; round < 100; round += 1) {
    await carry(world, null);
    const { counts } = await world.directory.moves(0);
    const open = counts.copying + counts.departing + counts.arriving + counts.leaving_off + counts.recalling;
    if (open + (await world.directory.handovers()).length === 0) return;
  }
  throw new Error('moves or handovers never ended');
}

/** Every accepted post is in exactly one cell, once, and the directory names it. */
async function expectAllInPlace({ directory, cells, accepted }: World): Promise<void> {
  const book = directoryBook();
  book.apply(await directory.changes(0));
  const found = [...cells].flatMap(([name, { owners }]) =>
    [...owners].map(([key, { posts }]) => ({ key, cell: name, posts })),
  );
  const expected = [...accepted].map(([key, posts]) => ({ key, cell: book.cellOf(key), posts }));
  const byKey = (a: { key: string }, b: { key: string }): number => (a.key < b.key ? -1 : 1);
  expect(found.sort(byKey)).toEqual(expected.sort(byKey));
  for (const { hidden } of cells.values()) expect(hidden.size).toBe(0);
}

const anyDeath = fc.option(fc.record({ at: fc.nat({ max: 30 }), when: fc.constantFrom('before', 'after') } as const));
const anyCell = fc.constantFrom(...CELLS);
const anyHappening = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('post' as const), user: fc.nat({ max: 7 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('move' as const), user: fc.nat({ max: 7 }), to: anyCell }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('give' as const),
      half: fc.boolean(),
      source: anyCell,
      destination: anyCell,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('erase' as const), user: fc.nat({ max: 7 }) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('carry' as const), death: anyDeath }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const), cell: anyCell, dead: fc.boolean() }) },
);
type Happening = typeof anyHappening extends fc.Arbitrary<infer One> ? One : never;

async function happen(world: World, happening: Happening, number: number): Promise<void> {
  const { directory, tools, cells } = world;
  switch (happening.kind) {
    case 'post':
      return post(world, happening.user, number);
    case 'move':
      await directory.askMoves([{ ...placed(happening.user), moveId: tools.id('mov'), destination: happening.to }]);
      return;
    case 'give': {
      const run = happening.half ? { from: 0, to: SLOTS / 2 - 1 } : { from: SLOTS / 2, to: SLOTS - 1 };
      const { source, destination } = happening;
      if (source !== destination) await directory.askHandovers([{ ...run, source, destination, id: tools.id('hov') }]);
      return;
    }
    case 'erase':
      return erase(world, happening.user);
    case 'carry':
      return carry(world, happening.death);
    case 'fail': {
      const cell = cells.get(happening.cell);
      if (cell !== undefined) cell.dead = happening.dead;
    }
  }
}

describe('owners that move, and slots that change hands', () => {
  it('are in one place each, with all that was accepted, whoever is killed whenever', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyHappening, { maxLength: 40 }), async (happenings) => {
        const here = await world();
        for (const [number, happening] of happenings.entries()) await happen(here, happening, number);
        for (const cell of here.cells.values()) cell.dead = false;
        await untilQuiet(here);
        await expectAllInPlace(here);
        for (let user = 0; user < 8; user += 1) await post(here, user, 1_000 + user);
        expect(here.accepted.size).toBe(8);
        await expectAllInPlace(here);
      }),
      { numRuns: 400 },
    );
  });

  it('need no more than the destination once an owner has departed', async () => {
    const here = await world();
    await post(here, 1, 1);
    const from = here.book.cellOf(placed(1).key);
    await here.directory.askMoves([{ ...placed(1), moveId: 'mov_1', destination: 'c' }]);
    // Killed right after the departure: claim, keep, copy, keep, depart.
    await carry(here, { at: 5, when: 'after' });
    const source = here.cells.get(from);
    expect(source?.away.get(placed(1).key)).toBe('c');
    if (source !== undefined) source.dead = true;
    await carry(here, null);
    expect((await here.directory.moves(1)).oldest[0]?.state).toBe('departing');
    if (source !== undefined) source.dead = false;
    await untilQuiet(here);
    await expectAllInPlace(here);
  });

  it('stay where they are if the destination never answers, and say why', async () => {
    const here = await world();
    await post(here, 1, 1);
    const away = here.cells.get('c');
    if (away !== undefined) away.dead = true;
    await here.directory.askMoves([{ ...placed(1), moveId: 'mov_1', destination: 'c' }]);
    for (let i = 0; i < 12; i += 1) await carry(here, null);
    expect((await here.directory.moves(10)).counts.leaving_off).toBe(1);
    if (away !== undefined) away.dead = false;
    await untilQuiet(here);
    const { counts, oldest } = await here.directory.moves(10);
    expect(counts.given_up).toBe(1);
    expect(oldest[0]).toMatchObject({ state: 'given_up', why: 'c does not answer' } satisfies Partial<OwnerMove>);
    await expectAllInPlace(here);
  });

  it('let a cell have all owners of slots that it gave up taking', async () => {
    const here = await world();
    const dead = here.cells.get('b');
    if (dead !== undefined) dead.dead = true;
    await here.directory.askHandovers([{ from: 0, to: SLOTS - 1, source: 'a', destination: 'b', id: 'hov_1' }]);
    for (let i = 0; i < 12; i += 1) await carry(here, null);
    expect(await here.directory.handovers()).toEqual([]);
    await post(here, 1, 1);
    expect(here.accepted.size).toBe(1);
    await expectAllInPlace(here);
  });
});

/** Gives a cell up, as the operator does. Returns the owners that were in it, or nowhere else. */
async function lose({ directory, peers, cells, tools }: World, name: string): Promise<ReadonlySet<string>> {
  const lost = cells.get(name);
  if (lost === undefined) throw new Error(`there is no cell ${name}`);
  lost.dead = true;
  await directory.loseCell(name);
  tools.advance(LONGEST_LEASE_MS);
  for (const other of CELLS) await peers.tellSlots(other, await directory.slotsOf(other)).catch(() => {});
  return new Set([...lost.owners.keys(), ...lost.hidden.keys()]);
}

async function beginAnew(world: World, name: string): Promise<void> {
  const { directory, peers } = world;
  await untilQuiet(world);
  const book = directoryBook();
  book.apply(await directory.changes(0));
  const others = book.cells().map((cell) => cell.name);
  for (const other of others) await peers.tellLoss(other, { lost: name, anew: true });
  expect(await directory.leaveBehind(name, planDrain({ ranges: book.ranges(), open: others }, name))).toBe(0);
  for (const other of others) await peers.tellSlots(other, await directory.slotsOf(other));
}

/** Who is in one of the cells that are left, and with what. */
function leftIn(
  { cells }: World,
  lost: string,
): ReadonlyMap<string, readonly (readonly [string, readonly number[]])[]> {
  const found = [...cells].flatMap(([cell, { owners }]) =>
    cell === lost ? [] : [...owners].map(([key, { posts }]) => ({ key, cell, posts })),
  );
  const byKey = Map.groupBy(found, ({ key }) => key);
  return new Map([...byKey].map(([key, of]) => [key, of.map(({ cell, posts }) => [cell, posts] as const)]));
}

function numbering(): () => number {
  let number = 0;
  return () => {
    number += 1;
    return number;
  };
}

/** What happens, and then every cell that can come back does. */
async function live(here: World, happenings: readonly Happening[], next: () => number): Promise<void> {
  const gone = new Set([...here.cells].flatMap(([name, { dead }]) => (dead ? [name] : [])));
  for (const happening of happenings) await happen(here, happening, next());
  for (const [name, cell] of here.cells) cell.dead = gone.has(name);
}

interface Lost {
  readonly lost: string;
  /** Who was in it. */
  readonly gone: ReadonlySet<string>;
}

/** Whoever was not in the lost cell has everything; whoever was is in one place at most, where the directory says. */
async function expectAllButLost(here: World, { lost, gone }: Lost): Promise<void> {
  const book = directoryBook();
  book.apply(await here.directory.changes(0));
  const left = leftIn(here, lost);
  for (const [key, posts] of here.accepted) {
    const places = left.get(key) ?? [];
    expect(places.length).toBeLessThanOrEqual(1);
    if (!gone.has(key)) expect(places).toEqual([[book.cellOf(key), posts]]);
    for (const [cell, kept] of places) expect([cell, new Set(kept).size]).toEqual([book.cellOf(key), kept.length]);
  }
  for (const [name, { hidden }] of here.cells) if (name !== lost) expect(hidden.size).toBe(0);
  expect([...left.keys()].filter((key) => !here.accepted.has(key))).toEqual([]);
}

describe('a cell that is lost', () => {
  it('takes nobody with it who was not in it, and whoever begins anew is in one place', async () => {
    const lives = fc.record({
      before: fc.array(anyHappening, { maxLength: 30 }),
      lost: anyCell,
      after: fc.array(anyHappening, { maxLength: 20 }),
      anew: fc.array(anyHappening, { maxLength: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(lives, async ({ before, lost, after, anew }) => {
        const here = await world();
        const numbers = numbering();
        const alive = (happenings: readonly Happening[]): readonly Happening[] =>
          happenings.filter((one) => one.kind !== 'fail' || one.cell !== lost);
        await live(here, alive(before), numbers);
        const gone = await lose(here, lost);
        await live(here, alive(after), numbers);
        await beginAnew(here, lost);
        await live(here, alive(anew), numbers);
        await untilQuiet(here);
        await expectAllButLost(here, { lost, gone });
      }),
      { numRuns: 400 },
    );
  });
});
