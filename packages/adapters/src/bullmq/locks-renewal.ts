import { newRedis } from '../redis.ts';
import { prefixOf } from './jobs.ts';
import type { HeldJob, LockServer } from './locks.ts';

/** Renews locks of running jobs, on a connection of its own. */
export interface Renewal {
  /** Answers which of the jobs have another lock, or none. */
  renew(queue: string, jobs: readonly HeldJob[], lockMs: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** The library's own call for this would bring all of the library into a thread that needs one statement of it. */
export const openRenewal = (server: LockServer, lockMs: number): Promise<Renewal> =>
  server.kind === 'redis' ? redisRenewal(server, lockMs) : postgresRenewal(server.url);

/** KEYS[1] the queue; ARGV: how long, then ids and tokens in turns. What is renewed is marked as seen to live. */
const RENEW_IN_REDIS = `
local base, ms = KEYS[1] .. ':', ARGV[1]
local lost = {}
for i = 2, #ARGV, 2 do
  local lock = base .. ARGV[i] .. ':lock'
  if redis.call('GET', lock) == ARGV[i + 1] then
    redis.call('PEXPIRE', lock, ms)
    redis.call('SREM', base .. 'stalled', ARGV[i])
  else
    lost[#lost + 1] = ARGV[i]
  end
end
return lost
`;

type Server<Kind> = Extract<LockServer, { kind: Kind }>;

async function redisRenewal(place: Server<'redis'>, lockMs: number): Promise<Renewal> {
  const redis = newRedis(place, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    // A connection that is silent for as long as a lock lasts is replaced; by then they have expired anyway.
    socketTimeout: lockMs,
    retryStrategy: () => RECONNECT_MS,
  });
  redis.on('error', () => {}); // the queues themselves report what is wrong with their server
  return {
    renew: async (queue, jobs, ms) => {
      const args = jobs.flatMap(({ id, token }) => [id, token]);
      return (await redis.eval(RENEW_IN_REDIS, 1, `${prefixOf(queue)}:${queue}`, ms, ...args)) as string[];
    },
    close: async () => redis.disconnect(),
  };
}

const RECONNECT_MS = 250;

/** By the server's clock, which is the same for all hosts. An expired lock that nobody has taken is renewed, too. */
const RENEW_ROWS = `
  WITH held AS (SELECT * FROM unnest($2::text[], $3::text[]) AS h (id, token)),
  renewed AS (
    UPDATE bullmq.job j SET locked_until_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $4::bigint
    FROM held WHERE j.queue = $1 AND j.id = held.id AND j.state = 'active' AND j.lock_token = held.token
    RETURNING j.id)
  SELECT id FROM held WHERE id NOT IN (SELECT id FROM renewed)`;

async function postgresRenewal(url: string): Promise<Renewal> {
  const { openPool } = await import('../postgres/pool.ts');
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const pool = openPool({ url, schema: 'bullmq', durable: false, max: 1, log });
  return {
    renew: async (queue, jobs, ms) => {
      const params = [queue, jobs.map(({ id }) => id), jobs.map(({ token }) => token), ms];
      return ((await pool.query(RENEW_ROWS, params)).rows as { id: string }[]).map(({ id }) => id);
    },
    close: () => pool.end(),
  };
}

const ignore = (): void => {};
