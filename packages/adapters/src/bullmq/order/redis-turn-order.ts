import type { Redis } from 'ioredis';
import { BEFORE_FIRST, FAR_AHEAD, LAST_ROUND, type TurnOrder } from './turn-order.ts';

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
