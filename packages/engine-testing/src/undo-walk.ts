import { DEFAULT_TENANT, foundVersions, isWorthReading, liveVersion, type MemoryEvent } from '@slowwave/engine';
import { expect } from 'vitest';
import { replay } from './ledger-bench.ts';
import { expectTrue } from './ledger-truths.ts';
import { done, type UndoBench } from './undo-bench.ts';
import { seeded } from './worlds.ts';

const TENANT = DEFAULT_TENANT;
const STEPS = 30;
const NOW = { dryRun: false };
const ALL = { limit: 1_000, cursor: null };
const KEYS = ['home', 'pet', 'tea'];

interface Walk {
  readonly b: UndoBench;
  readonly dice: (limit: number) => number;
  /** What was there at each time that somebody may go back to. */
  readonly states: { at: number; hash: string }[];
  /** Consolidations whose batches were replayed: they never count again. */
  readonly replayed: Set<string>;
}

/**
 * A random life of talk, explicit writes, undos, redos, replays, rollbacks and restores. After every step the index shows what the
 * ledger holds, an undo leads where a reference says, and at the end the ledger is true.
 */
export async function walkUndos(b: UndoBench, seed: number): Promise<void> {
  const random = seeded(seed);
  const walk: Walk = { b, dice: (limit) => Math.floor(random() * limit), states: [], replayed: new Set() };
  await b.say('home: 0');
  for (let i = 0; i < STEPS; i += 1) {
    walk.states.push({ at: b.engine.tools.now(), hash: await b.hash() });
    b.engine.tools.advance(1_000);
    await step(walk);
    await expectIndexed(b);
  }
  await expectTrue(b.engine.deps.ledger);
}

async function step(walk: Walk): Promise<void> {
  const { b, dice } = walk;
  const choice = dice(12);
  if (choice < 4) await b.say(...Array.from({ length: 1 + dice(2) }, () => `${pick(walk, KEYS)}: ${dice(4)}`));
  else if (choice === 4) await changeOne(walk);
  else if (choice < 7) await undoOne(walk);
  else if (choice < 9) await redoOne(walk);
  else if (choice < 10) await rollBack(walk);
  else await replayOne(walk);
}

async function changeOne(walk: Walk): Promise<void> {
  const { b, dice } = walk;
  const memory = pick(walk, await b.engine.memories());
  if (memory === undefined) return;
  if (dice(3) === 0) await b.writer.remove(TENANT, memory.id);
  else if (dice(2) === 0) await b.writer.change(TENANT, memory.id, { text: `${pick(walk, KEYS)}: ${dice(4)}` });
  else await b.writer.restore(TENANT, memory.id, 1);
}

/** Undone with all that depends on it, nothing of it is left; taken back, everything is as before. */
async function undoOne(walk: Walk): Promise<void> {
  const { b, dice } = walk;
  const { results } = await b.engine.deps.ledger.thoughts.list(TENANT, { state: 'applied' }, ALL);
  const one = pick(walk, results);
  if (one === undefined) return;
  const before = await b.hash();
  const { undo, undone, dependents } = done(await b.undoer.undo(TENANT, one.id, { cascade: true, dryRun: false }));
  expect(undone).toContain(one.id);
  const gone = new Set([...undone, ...dependents.map(({ id }) => id)]);
  for (const memory of await b.engine.memories()) {
    const events = (await b.engine.deps.ledger.memories.history(TENANT, memory.id, ALL)).results;
    expect(liveVersion(memory)?.text ?? null).toBe(holding(events, gone));
  }
  if (dice(2) === 0) return;
  done(await b.undoer.redo(TENANT, undo?.id ?? '', NOW));
  expect(await b.hash()).toBe(before);
}

async function redoOne(walk: Walk): Promise<void> {
  const { b } = walk;
  const { results } = await b.engine.deps.ledger.undos.list(TENANT, {}, ALL);
  const one = pick(walk, results);
  if (one === undefined) return;
  expect((await b.undoer.redo(TENANT, one.id, NOW)).kind).toMatch(/^(done|refused)$/);
  await expectGone(walk);
}

/** Batches of something undone are consolidated again; what they were stays undone. */
async function replayOne(walk: Walk): Promise<void> {
  const { b } = walk;
  const { batches, thoughts } = b.engine.deps.ledger;
  const undone = (await thoughts.list(TENANT, { state: 'undone' }, ALL)).results;
  const one = pick(
    walk,
    undone.filter(({ id }) => !walk.replayed.has(id)),
  );
  if (one === undefined) return;
  const { replayed } = await replay(b.engine.deps, one.batchIds);
  expect(replayed.toSorted()).toEqual(one.batchIds.toSorted());
  walk.replayed.add(one.id);
  await b.engine.run();
  for (const id of replayed) {
    const batch = await batches.get(TENANT, id);
    expect(batch?.state).toMatch(/^(consolidated|empty)$/);
    expect(batch?.consolidationId).not.toBe(one.id);
  }
  await expectGone(walk);
}

async function expectGone({ b, replayed }: Walk): Promise<void> {
  for (const id of replayed) expect((await b.engine.deps.ledger.thoughts.get(TENANT, id))?.state).toBe('undone');
}

/** All is as it was then; forward again, as it was before. To before the undo of what was replayed nobody goes back. */
async function rollBack(walk: Walk): Promise<void> {
  const { b, dice } = walk;
  const to = pick(walk, walk.states);
  if (to === undefined) return;
  const before = await b.hash();
  const rolled = await b.undoer.rollback(TENANT, b.ann, { to: to.at, dryRun: false });
  if (rolled.kind === 'refused') {
    expect(walk.replayed.size).toBeGreaterThan(0);
    expect(await b.hash()).toBe(before);
    return;
  }
  const { undo } = done(rolled);
  expect(await b.hash()).toBe(to.hash);
  if (undo === null || dice(2) === 0) return;
  done(await b.undoer.redo(TENANT, undo.id, NOW));
  expect(await b.hash()).toBe(before);
}

/** A second way to what holds: the events in the order of saying, without what is undone, in plain words. */
function holding(events: readonly MemoryEvent[], gone: ReadonlySet<string>): string | null {
  const takenBack = new Set<number>();
  for (const { kind, revision, retraction } of events.toReversed()) {
    if (kind === 'UNDO' && !takenBack.has(revision)) for (const one of retraction?.retracts ?? []) takenBack.add(one);
  }
  const counting = events.filter(
    ({ kind, revision }) => kind !== 'UNDO' && kind !== 'FEEDBACK' && !takenBack.has(revision),
  );
  for (const { id, consolidationId } of counting) expect(gone.has(consolidationId ?? id)).toBe(false);
  const said = counting.toSorted((a, b) => a.saidAt.at - b.saidAt.at || a.saidAt.seq - b.saidAt.seq);
  return said.at(-1)?.text ?? null;
}

/** The index has exactly the versions of the ledger, and the messages of consolidations that count; nothing of what is forgotten. */
async function expectIndexed({ engine }: UndoBench): Promise<void> {
  const { index, ledger } = engine.deps;
  const shelves = Map.groupBy((await index.page(null, 10_000)).points, ({ shelf }) => shelf);
  const points = shelves.get('memories') ?? [];
  const batches = await ledger.speech.every({ after: null, limit: 10_000, changedSince: null });
  const counting = batches.filter(({ counts }) => counts).flatMap(({ messages }) => messages);
  const said = counting.flatMap(({ message }) => (isWorthReading(message) ? message.id : []));
  expect((shelves.get('messages') ?? []).map(({ memoryId }) => memoryId).sort()).toEqual(said.sort());
  const named = (memoryId: string, version: number, live: boolean) => `${memoryId}.${version}${live ? ' live' : ''}`;
  const shown = points.map((point) => named(point.memoryId, point.version, point.live)).sort();
  const held = (await engine.memories()).flatMap((memory) => {
    const live = liveVersion(memory);
    return foundVersions(memory).map(({ number }) => named(memory.id, number, number === live?.number));
  });
  expect(shown).toEqual(held.sort());
}

const pick = <T>({ dice }: Walk, list: readonly T[]): T | undefined => list[dice(Math.max(1, list.length))];
