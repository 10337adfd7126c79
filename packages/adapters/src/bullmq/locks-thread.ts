import { newRedis } from '../redis.ts';
import { hostThread, methodHost, notify } from '../system/thread-host.ts';
import type { HeldJob, LockServer, LocksInit, LostLocks } from './connection.ts';
import { prefixOf } from './jobs.ts';

/** More often than the jobs of dead workers are looked for, so that each look finds a lock that was just renewed. */
const RENEWALS_PER_LOCK = 6;

hostThread<LocksInit>(async ({ server, lockMs, beat, hungMs }) => {
  const held = new Map<string, HeldJob>();
  const renewal = await openRenewal(server, lockMs);
  const isAlive = pulseOf(new Int32Array(beat), hungMs);
  let isRenewing = false;

  const renew = async (): Promise<void> => {
    if (isRenewing || !isAlive() || held.size === 0) return;
    isRenewing = true;
    const queues = Map.groupBy(held.values(), ({ queue }) => queue);
    // A server that is away is reported by the queues themselves; its locks are renewed when it is back.
    await Promise.allSettled([...queues].map(([queue, jobs]) => renewOf(queue, jobs)));
    isRenewing = false;
  };
  const renewOf = async (queue: string, jobs: readonly HeldJob[]): Promise<void> => {
    const ids = new Set(await renewal.renew(queue, jobs, lockMs));
    const lost = jobs.filter((job) => ids.has(job.id) && held.get(keyOf(job)) === job);
    for (const job of lost) held.delete(keyOf(job));
    if (lost.length > 0) notify({ lost } satisfies LostLocks);
  };
  const renewing = setInterval(() => void renew(), lockMs / RENEWALS_PER_LOCK);

  return methodHost(
    {
      hold: (job: HeldJob) => void held.set(keyOf(job), job),
      release: (job: HeldJob) => void held.delete(keyOf(job)),
    },
    async () => {
      clearInterval(renewing);
      await renewal.close();
    },
  );
});

const keyOf = ({ queue, id, token }: HeldJob): string => `${queue} ${id} ${token}`;

/** Whether the main thread counts. Time in which the whole process was stopped passes too. */
function pulseOf(beats: Int32Array, hungMs: number): () => boolean {
  let last = -1;
  let since = 0;
  return () => {
    const now = performance.now();
    const count = Atomics.load(beats, 0);
    if (count !== last) [last, since] = [count, now];
    return now - since < hungMs;
  };
}

/** Renews locks of running jobs, on a connection of its own. */
interface Renewal {
  /** Answers which of the jobs have another lock, or none. */
  renew(queue: string, jobs: readonly HeldJob[], lockMs: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** The library's own call for this would bring all of the library into a thread that needs one statement of it. */
const openRenewal = (server: LockServer, lockMs: number): Promise<Renewal> =>
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
