import type { LaneId, TurnState } from '@slowwave/engine';
import type { Redis } from 'ioredis';
import {
  ASLEEP_MS,
  BEFORE_FIRST,
  FAR_AHEAD,
  inPortions,
  type JobStates,
  type JobsOfLane,
  LAST_ROUND,
  type TurnOrder,
  UNPLACED,
  type Waiting,
} from './jobs.ts';

/** The library keeps the time of a delayed job times this, to count those of one millisecond. */
const DELAYED_SCORE = 4_096;

/**
 * KEYS[1] the queue; ARGV: the time until which a job counts as about to be taken, then ids. A job without its own key is
 * taken as absent wherever its id still stands: adding it again makes it whole. One that is locked is being worked on.
 */
const STATES = `
local base = KEYS[1] .. ':'
local function has(set, id) return redis.call('ZSCORE', base .. set, id) end
local function stateOf(id)
  if redis.call('EXISTS', base .. id) == 0 then return 'absent' end
  local delayed = has('delayed', id)
  if delayed then
    if tonumber(delayed) / ${DELAYED_SCORE} > tonumber(ARGV[1]) then return 'asleep' end
    return 'scheduled'
  end
  if has('prioritized', id) then return 'scheduled' end
  if has('completed', id) or has('failed', id) then return 'finished' end
  if redis.call('EXISTS', base .. id .. ':lock') == 1 then return 'active' end
  if redis.call('LPOS', base .. 'active', id) then return 'active' end
  if redis.call('LPOS', base .. 'wait', id) or redis.call('LPOS', base .. 'paused', id) then return 'scheduled' end
  redis.call('DEL', base .. id, base .. id .. ':logs')
  return 'absent'
end
local states = {}
for i = 2, #ARGV do states[i - 1] = stateOf(ARGV[i]) end
return states
`;

/** The states of jobs in Redis, as scripts see them: never in the middle of a move. */
export function redisJobStates(prefix: string, client: () => Promise<Redis>): JobStates {
  return inPortions(async (queue, ids) => {
    const redis = await client();
    return (await redis.eval(STATES, 1, `${prefix}:${queue}`, Date.now() + ASLEEP_MS, ...ids)) as TurnState[];
  });
}

/** Ids looked at in one call: a millisecond of the server's time, in which it answers nobody else. */
const IDS_PER_CALL = 1_000;
const SORTED = ['delayed', 'prioritized', 'completed', 'failed'] as const;
const LISTED = ['wait', 'paused'] as const;

const isOf =
  (lane: LaneId) =>
  (id: string): boolean =>
    id === lane || id.startsWith(`${lane}~`);

export const redisJobsOfLane =
  (prefix: string, client: () => Promise<Redis>): JobsOfLane =>
  async (queue, lane) => {
    const redis = await client();
    const found: string[] = [];
    for (const name of SORTED) found.push(...(await sortedIn(redis, `${prefix}:${queue}:${name}`, lane)));
    for (const name of LISTED) found.push(...(await listedIn(redis, `${prefix}:${queue}:${name}`)));
    return [...new Set(found.filter(isOf(lane)))];
  };

async function sortedIn(redis: Redis, key: string, lane: LaneId): Promise<string[]> {
  const found: string[] = [];
  let cursor = '0';
  do {
    const [next, pairs] = await redis.zscan(key, cursor, 'MATCH', `${lane}*`, 'COUNT', IDS_PER_CALL);
    found.push(...pairs.filter((_, i) => i % 2 === 0)); // each id is followed by its place
    cursor = next;
  } while (cursor !== '0');
  return found;
}

/** From the end to the beginning: new ones come at the beginning, and move nothing out of sight. */
async function listedIn(redis: Redis, key: string): Promise<string[]> {
  const found: string[] = [];
  for (let end = -1; ; end -= IDS_PER_CALL) {
    const ids = await redis.lrange(key, end - IDS_PER_CALL + 1, end);
    found.push(...ids);
    if (ids.length < IDS_PER_CALL) return found;
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

/** KEYS[1] a hash: `round`, the latest that began, and the last round of each tenant. */
const ROUND = `
local round = tonumber(redis.call('HGET', KEYS[1], 'round') or '') or ${BEFORE_FIRST}
`;

/** ARGV: tenant, how many. */
const NEXT = `${ROUND}
local field, count = 'last:' .. ARGV[1], tonumber(ARGV[2])
local last = tonumber(redis.call('HGET', KEYS[1], field) or '') or round
if last < round or last - round > ${FAR_AHEAD} then last = round end
if last + count > ${LAST_ROUND} then
  redis.call('DEL', KEYS[1])
  last = ${BEFORE_FIRST}
end
redis.call('HSET', KEYS[1], field, last + count)
return last + 1
`;

/** ARGV: round. */
const BEGIN = `${ROUND}
local began = tonumber(ARGV[1])
if began > round and began - round <= ${FAR_AHEAD} then redis.call('HSET', KEYS[1], 'round', began) end
`;

/** The order of turns that all processes on one Redis share. Scripts, because many count at the same time. */
export function redisTurnOrder(prefix: string, client: () => Promise<Redis>): TurnOrder {
  const run = async (script: string, key: string, ...args: (string | number)[]): Promise<unknown> =>
    (await client()).eval(script, 1, `${prefix}:rounds:${key}`, ...args);
  return {
    next: async (priority, tenant, count) => Number(await run(NEXT, priority, tenant, count)),
    begin: async (priority, round) => {
      await run(BEGIN, priority, round);
    },
  };
}
