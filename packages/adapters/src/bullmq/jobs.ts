import { createHash } from 'node:crypto';
import type { LaneId, Nudge, Priority, TurnState } from '@slowwave/engine';
import type { JobsOptions, Queue } from 'bullmq';

/**
 * The order of turns, as priorities of jobs: the lowest number is taken first, and equal ones as they came.
 *
 * Turns are taken in rounds, one turn of each tenant a round. A turn gets the round after the last one its tenant has a
 * turn in, and never one that has begun: so a tenant with 5,000 waiting turns fills 5,000 rounds to come, and the single
 * turn of another tenant is taken in the next. Of one tenant turns are taken as they came; a lane has one turn at a time
 * and stands at the end again with its next.
 *
 * Live turns and backfill count their rounds apart, and every round of backfill comes after all that are live.
 *
 * Nothing but the order depends on these numbers. Where they are lost, counting begins anew: the turns that wait keep
 * their high numbers, are overtaken for a while, and are found by the sweep if that takes too long.
 */
export interface TurnOrder {
  /** The round of the tenant's next turn; of several, the first of as many in a row. */
  next(priority: Priority, tenant: string, count: number): Promise<number>;
  /** A turn of this round begins: new ones get later rounds. */
  begin(priority: Priority, round: number): Promise<void>;
}

/** The priority of turns that go before all others: handed back by a worker that stops, or in need of hurry. Never 0. */
export const FRONT = 1;
/** The first round is the one after it. */
export const BEFORE_FIRST = 2;
/** Half of what the library can count to (2^21): live rounds are below, rounds of backfill above. */
const BACKFILL = 2 ** 20;
/**
 * Of turns that have waited for a time: workers that are busy give them their place when they are due, for they have
 * overslept theirs. Until then they stand behind all that is live, and are taken at once where nothing is.
 */
export const UNPLACED = BACKFILL - 1;
/** When a tenant gets this far, counting begins anew. */
export const LAST_ROUND = UNPLACED - 1;
/** No tenant has so many turns waiting: a number so far ahead is from before counting began anew. */
export const FAR_AHEAD = 2 ** 19;

const jobPriority = (priority: Priority, round: number): number => (priority === 'live' ? round : BACKFILL + round);

/** The round a job stands in; null for one that has no place. */
export function roundOf(jobPriority: number): { readonly priority: Priority; readonly round: number } | null {
  if (jobPriority <= BEFORE_FIRST || jobPriority === UNPLACED) return null;
  return jobPriority < BACKFILL
    ? { priority: 'live', round: jobPriority }
    : { priority: 'backfill', round: jobPriority - BACKFILL };
}

type Due = Pick<Nudge, 'tenant' | 'priority' | 'dueAt'>;

/** The priorities of jobs for these turns, in their order. A turn that is not due yet finds its place when it is. */
export async function roundsFor(order: TurnOrder, nudges: readonly Due[], now: number): Promise<readonly number[]> {
  const groups = Map.groupBy(
    nudges.filter(({ dueAt }) => dueAt <= now),
    ({ tenant, priority }) => `${priority} ${tenant}`,
  );
  const priorities = new Map<Due, number>();
  await Promise.all([...groups.values()].map((group) => place(order, group, priorities)));
  return nudges.map((nudge) => priorities.get(nudge) ?? UNPLACED);
}

async function place(order: TurnOrder, group: readonly Due[], priorities: Map<Due, number>): Promise<void> {
  const [{ priority, tenant } = NOBODY] = group;
  // Without an order turns go as they come: it must never be the reason that one does not go at all.
  const first = await order.next(priority, tenant, group.length).catch(() => null);
  for (const [i, nudge] of group.entries()) {
    priorities.set(nudge, first === null ? FRONT : jobPriority(priority, first + i));
  }
}

const NOBODY = { priority: 'live', tenant: '' } as const;

/** A turn that is due and has no round yet, with what its job holds. */
interface Unplaced {
  readonly id: string;
  readonly data: unknown;
}

interface Placed {
  readonly id: string;
  readonly priority: number;
}

/** The turns of a queue that have come due since somebody looked, for giving them their rounds in one go. */
export interface Waiting {
  /** Those without a round, as they came. */
  unplaced(queue: string, limit: number): Promise<readonly Unplaced[]>;
  /** What a worker has taken meanwhile is left alone. */
  place(queue: string, placed: readonly Placed[]): Promise<void>;
}

/** Turns placed in one call: a few milliseconds of the server's time. */
const TURNS_PER_CALL = 250;
/** More are placed the next time; others want to be answered in between. */
const CALLS_MAX = 20;

type Named = Pick<Nudge, 'tenant' | 'priority'>;

/**
 * Gives every turn that is due its round, before it is taken: to take each, and to put it back in its place, costs as much
 * as working it, so that thousands that come due one after the other would keep workers from ever beginning any.
 */
export async function placeWaiting(
  { queue, order, waiting }: { queue: string; order: TurnOrder; waiting: Waiting },
  nameOf: (data: unknown) => Named,
): Promise<void> {
  for (let calls = 0; calls < CALLS_MAX; calls += 1) {
    const found = await waiting.unplaced(queue, TURNS_PER_CALL);
    const rounds = await roundsFor(
      order,
      found.map(({ data }) => ({ ...nameOf(data), dueAt: 0 })),
      0,
    );
    const placed = found.map(({ id }, i) => ({ id, priority: rounds[i] ?? UNPLACED }));
    if (placed.length > 0) await waiting.place(queue, placed);
    if (placed.length < TURNS_PER_CALL) return;
  }
}

/** The order of turns of a queue that only this process uses. */
export function memoryTurnOrder(): TurnOrder {
  const lines: Record<Priority, Line> = { live: newLine(), backfill: newLine() };
  return {
    next: async (priority, tenant, count) => {
      const last = lastOf(lines[priority], tenant);
      if (last + count > LAST_ROUND) lines[priority] = newLine();
      const from = last + count > LAST_ROUND ? BEFORE_FIRST : last;
      lines[priority].lasts.set(tenant, from + count);
      return from + 1;
    },
    begin: async (priority, round) => {
      const line = lines[priority];
      if (round - line.round <= FAR_AHEAD) line.round = Math.max(line.round, round);
    },
  };
}

interface Line {
  /** The latest that began. */
  round: number;
  /** The last round of each tenant. */
  readonly lasts: Map<string, number>;
}

const newLine = (): Line => ({ round: BEFORE_FIRST, lasts: new Map() });

function lastOf({ round, lasts }: Line, tenant: string): number {
  const last = lasts.get(tenant) ?? round;
  return last < round || last - round > FAR_AHEAD ? round : last;
}

/**
 * What a queue knows of jobs, one state for each, in one call for all of them: the library asks for one at a time.
 * What is left of a job that no worker would ever take (an operator, an eviction or a crash removed one key of the queue
 * and not the others) is removed on the way, and the job is absent: the library would ignore a new one of its name.
 */
export type JobStates = (queue: string, ids: readonly string[]) => Promise<readonly TurnState[]>;

/** A job that waits for longer is not "about to be taken": whoever knows that it is due should give it another one. */
export const ASLEEP_MS = 60_000;
/** Jobs asked about in one call: a few milliseconds of the server's time, in which it answers nobody else. */
const JOBS_PER_CALL = 250;

export const inPortions =
  (ask: JobStates): JobStates =>
  async (queue, ids) => {
    const states: TurnState[] = [];
    for (let from = 0; from < ids.length; from += JOBS_PER_CALL) {
      states.push(...(await ask(queue, ids.slice(from, from + JOBS_PER_CALL))));
    }
    return states;
  };

/**
 * The ids of a lane's jobs in a queue, whatever became of them; every such id begins with the lane. The server looks for them, by
 * their ids alone: reading all jobs of all owners to forget one of them took as long as there are owners.
 */
export type JobsOfLane = (queue: string, lane: LaneId) => Promise<readonly string[]>;

interface DueJob {
  readonly name: string;
  readonly data: unknown;
  readonly opts: JobsOptions & { readonly jobId: string };
}

/**
 * Adds jobs that are due, under names that never change. One that has a job is left as it is, unless that would not be
 * taken now: a job of a clock that was wrong for a moment may sleep for a day.
 */
export async function addDue(queue: Queue, jobs: readonly DueJob[], statesOf: JobStates): Promise<void> {
  const ids = jobs.map(({ opts }) => opts.jobId);
  const states = await statesOf(queue.name, ids);
  for (const id of ids.filter((_, i) => states[i] === 'asleep')) await queue.remove(id);
  await queue.addBulk([...jobs]);
}

/**
 * Turns may be spread over several queues. Each has keys with a hash tag of its own, so that the nodes of a Redis Cluster share them, and on
 * one server several processors of the workers' side do. A lane is always in the same one, which keeps its jobs in order and under one name.
 */
export const shardQueues = (name: string, shards: number): readonly string[] =>
  Array.from({ length: shards }, (_, shard) => (shard === 0 ? name : `${name}-${shard}`));

/** Which of the queues a lane is in, for ever the same for as many shards. */
export const shardOf = (lane: string, shards: number): number =>
  shards === 1 ? 0 : createHash('sha256').update(lane).digest().readUInt32BE() % shards;

/** What the keys of a queue begin with. The braces keep all of them on one node of a Redis Cluster, which the library's scripts need. */
export function prefixOf(queue: string): string {
  const shard = /-(\d+)$/.exec(queue)?.[1];
  return shard === undefined ? '{slowwave}' : `{slowwave-${shard}}`;
}
