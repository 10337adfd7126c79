import type { Nudge } from '@slowwave/engine';
import type { Redis } from 'ioredis';
import { roundsFor } from './rounds-for.ts';
import { type TurnOrder, UNPLACED } from './turn-order.ts';

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

/** The library's order of jobs: their priority, and as they came within it. */
const SCORE = 2 ** 32;

/** KEYS[1] the queue, ARGV how many. Answers ids and payloads in turns; a job without its own key has none. */
const UNPLACED_IN_REDIS = `
local base = KEYS[1] .. ':'
local first, last = '${UNPLACED * SCORE}', '(${(UNPLACED + 1) * SCORE}'
local found = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', base .. 'prioritized', first, last, 'LIMIT', 0, ARGV[1])) do
  found[#found + 1] = id
  found[#found + 1] = redis.call('HGET', base .. id, 'data') or '{}'
end
return found
`;

/** KEYS[1] the queue, ARGV ids and priorities in turns. Of one priority they stay in the order in which they are given. */
const PLACE_IN_REDIS = `
local base = KEYS[1] .. ':'
for i = 1, #ARGV, 2 do
  local id, priority = ARGV[i], tonumber(ARGV[i + 1])
  local score = redis.call('ZSCORE', base .. 'prioritized', id)
  if score and math.floor(tonumber(score) / ${SCORE}) == ${UNPLACED} then
    local count = redis.call('INCR', base .. 'pc')
    redis.call('ZADD', base .. 'prioritized', priority * ${SCORE} + count % ${SCORE}, id)
    redis.call('HSET', base .. id, 'priority', priority)
  end
end
`;

export function redisWaiting(prefix: string, client: () => Promise<Redis>): Waiting {
  return {
    unplaced: async (queue, limit) => {
      const found = (await (await client()).eval(UNPLACED_IN_REDIS, 1, `${prefix}:${queue}`, limit)) as string[];
      return found.flatMap((id, i) => (i % 2 === 0 ? [{ id, data: JSON.parse(found[i + 1] ?? '{}') }] : []));
    },
    place: async (queue, placed) => {
      const args = placed.flatMap(({ id, priority }) => [id, priority]);
      await (await client()).eval(PLACE_IN_REDIS, 1, `${prefix}:${queue}`, ...args);
    },
  };
}

const UNPLACED_ROWS = `
  SELECT id, data FROM bullmq.job WHERE queue = $1 AND state = 'waiting' AND priority = ${UNPLACED} ORDER BY seq LIMIT $2`;

const PLACE_ROWS = `
  UPDATE bullmq.job j SET priority = p.priority FROM unnest($2::text[], $3::int[]) AS p (id, priority)
  WHERE j.queue = $1 AND j.id = p.id AND j.state = 'waiting' AND j.priority = ${UNPLACED}`;

/** As much of a pool of PostgreSQL as is needed here. */
interface Asked {
  query(text: string, params: unknown[]): Promise<{ rows: unknown[] }>;
}

/** In PostgreSQL or PGlite. */
export function sqlWaiting(pool: Asked): Waiting {
  return {
    unplaced: async (queue, limit) => (await pool.query(UNPLACED_ROWS, [queue, limit])).rows as Unplaced[],
    place: async (queue, placed) => {
      const ids = placed.map(({ id }) => id);
      await pool.query(PLACE_ROWS, [queue, ids, placed.map(({ priority }) => priority)]);
    },
  };
}
