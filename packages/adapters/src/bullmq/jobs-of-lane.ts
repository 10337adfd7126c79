import type { LaneId } from '@slowwave/engine';
import type { Redis } from 'ioredis';

/**
 * The ids of a lane's jobs in a queue, whatever became of them; every such id begins with the lane. The server looks for them, by
 * their ids alone: reading all jobs of all owners to forget one of them took as long as there are owners.
 */
export type JobsOfLane = (queue: string, lane: LaneId) => Promise<readonly string[]>;

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

const SELECT = 'SELECT id FROM bullmq.job WHERE queue = $1 AND (id = $2 OR starts_with(id, $3))';

/** As much of a pool of PostgreSQL as is needed here. */
interface Asked {
  query(text: string, params: unknown[]): Promise<{ rows: unknown[] }>;
}

export const sqlJobsOfLane =
  (pool: Asked): JobsOfLane =>
  async (queue, lane) => {
    const { rows } = await pool.query(SELECT, [queue, lane, `${lane}~`]);
    return (rows as { id: string }[]).map(({ id }) => id);
  };
