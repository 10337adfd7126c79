import type { Turn } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, home, newBatch, scope, user } from './builders.ts';
import { fnv } from './fixed-tools.ts';
import {
  ALL,
  append,
  apply,
  type Bench,
  claim,
  expectConserved,
  fail,
  laneOf,
  MINUTE,
  project,
  replay,
  SECOND,
  store,
  TENANT,
} from './ledger-bench.ts';

const USERS = ['ann', 'bob'];
const STEPS = 120;

/** Random lives of two lanes, with lost workers, failures, flushes and replays. The seed repeats a walk. */
export function describeWalks(bench: () => Bench): void {
  describe('whatever happens', () => {
    it.each([1, 2, 3, 4, 5])('nothing is lost, doubled or out of order (walk %i)', async (seed) => {
      const b = bench();
      const walk = newWalk(seed);
      for (let i = 0; i < STEPS; i += 1) {
        await step(b, walk);
        await expectConserved(b.ledger, TENANT);
      }
      await workOff(b, walk);
      await expectAllDone(b, walk);
    });
  });
}

interface Walk {
  /** A whole number from 0 up to the limit, the limit not included. */
  readonly dice: (limit: number) => number;
  /** Turns that workers hold, or believe to hold. */
  readonly held: Turn[];
  readonly accepted: string[];
  /** Batches in the order their consolidations were applied, by lane. */
  readonly applied: Map<string, string[]>;
  readonly replayed: Set<string>;
}

function newWalk(seed: number): Walk {
  let count = 0;
  const dice = (limit: number) => {
    count += 1;
    return fnv(`${seed}:${count}`, seed) % limit;
  };
  return { dice, held: [], accepted: [], applied: new Map(), replayed: new Set() };
}

const pick = <T>(walk: Walk, list: readonly T[]): T | undefined => list[walk.dice(Math.max(1, list.length))];

async function step(b: Bench, walk: Walk): Promise<void> {
  const userId = pick(walk, USERS) ?? 'ann';
  switch (walk.dice(10)) {
    case 0:
    case 1:
    case 2:
      return arrive(b, walk, userId);
    case 3:
      b.tools.advance(pick(walk, [SECOND, 10 * SECOND, MINUTE]) ?? SECOND);
      return;
    case 4:
    case 5:
      return take(b, walk);
    case 6:
    case 7:
      return finish(b, walk);
    case 8:
      return stumble(b, walk);
    default:
      return meddle(b, walk, userId);
  }
}

async function arrive(b: Bench, walk: Walk, userId: string): Promise<void> {
  const runId = walk.dice(4) === 0 ? 'r1' : null;
  const idempotency = { key: `key ${walk.accepted.length}`, bodyHash: 'h' };
  const given = { scope: scope({ userId, runId }), flush: walk.dice(5) === 0, idempotency };
  walk.accepted.push((await store(b, given)).batch.id);
  const again = await append(b, newBatch(b.tools, given));
  expect(again).toMatchObject({ kind: 'repeated', batchId: walk.accepted.at(-1) });
}

/** A worker takes what is due, also from a worker that is still at it. */
async function take(b: Bench, walk: Walk): Promise<void> {
  const nudge = pick(walk, await b.ledger.lanes.due(b.tools.now(), 10));
  if (nudge === undefined) return;
  const claimed = await claim(b, nudge, { maxBatches: 3 });
  if (claimed.kind === 'claimed') walk.held.push(claimed.turn);
}

/** A worker applies; only the last that claimed the lane can. */
async function finish(b: Bench, walk: Walk): Promise<void> {
  const [turn] = walk.held.splice(walk.dice(Math.max(1, walk.held.length)), 1);
  if (turn === undefined) return;
  const lane = await b.ledger.lanes.get(turn.lane);
  const changes = walk.dice(2) === 0 ? [added(b.tools, home(turn.lane, { scope: turn.scope }))] : [];
  const answer = await apply(b, turn, { changes });
  if (lane?.epoch !== turn.epoch) expect(answer.kind).toBe('fenced');
  if (answer.kind === 'applied') {
    walk.applied.set(turn.lane, [...(walk.applied.get(turn.lane) ?? []), ...turn.batchIds]);
  }
}

async function stumble(b: Bench, walk: Walk): Promise<void> {
  const [turn] = walk.held.splice(walk.dice(Math.max(1, walk.held.length)), 1);
  if (turn === undefined) return;
  if (walk.dice(3) === 0) await b.ledger.lanes.release(turn, b.tools.now());
  else await fail(b, turn, { retryable: walk.dice(2) === 0 });
}

async function meddle(b: Bench, walk: Walk, userId: string): Promise<void> {
  const lane = await b.ledger.lanes.find(TENANT, user(userId));
  const choice = walk.dice(4);
  if (choice === 0) await b.ledger.lanes.flush(TENANT, user(userId), b.tools.now());
  if (choice === 1) await project(b);
  if (choice === 2 && lane !== null) await b.ledger.lanes.raise({ lane: lane.id, generation: lane.generation });
  if (choice === 3) await replayAll(b, walk);
}

async function replayAll(b: Bench, walk: Walk): Promise<void> {
  const parked = await b.ledger.batches.list(TENANT, { state: 'parked' }, ALL);
  const ids = parked.results.map((batch) => batch.id);
  const { replayed } = await replay(b, ids);
  expect([...replayed].sort()).toEqual([...ids].sort());
  for (const id of replayed) walk.replayed.add(id);
}

/** From here on all goes well. */
async function workOff(b: Bench, walk: Walk): Promise<void> {
  await replayAll(b, walk);
  for (let round = 0; ; round += 1) {
    expect(round, 'rounds of lanes that never rest').toBeLessThan(STEPS);
    const nudges = await b.ledger.lanes.withWork(null, 10);
    if (nudges.length === 0) break;
    for (const nudge of nudges) {
      b.tools.set(Math.max(b.tools.now(), nudge.dueAt));
      const claimed = await claim(b, nudge);
      expect(claimed.kind).toBe('claimed');
      if (claimed.kind === 'claimed') walk.held.splice(0, walk.held.length, claimed.turn);
      await finish(b, walk);
    }
  }
  await project(b);
}

async function expectAllDone(b: Bench, walk: Walk): Promise<void> {
  const counts = await b.ledger.overview.batches(TENANT);
  expect(counts.consolidated + counts.empty).toBe(walk.accepted.length);
  expect([...walk.applied.values()].flat().sort()).toEqual([...walk.accepted].sort());
  for (const userId of USERS) {
    const lane = await b.ledger.lanes.find(TENANT, user(userId));
    if (lane !== null) expect(await laneOf(b, user(userId))).toMatchObject({ state: 'idle', pending: 0 });
  }
  for (const ids of walk.applied.values()) {
    const inTime = ids.filter((id) => !walk.replayed.has(id));
    expect(inTime).toEqual([...inTime].sort());
  }
}
