import { createHash } from 'node:crypto';
import {
  EngineError,
  type Limiter,
  type Log,
  type ModelLimits,
  type Reservation,
  SECONDS_COUNTED,
} from '@slowwave/engine';
import type { Redis } from 'ioredis';
import type { Pool, PoolClient } from 'pg';
import { openPool } from '../postgres/index.ts';
import { newRedis } from '../redis.ts';
import { type Account, correctIn, NEW_ACCOUNT, pauseIn, reservationId, reservedIn, reserveIn } from './limited.ts';

const SCHEMA = 'slowwave_limits';
/** Transactions take a few milliseconds, and those of one model wait for each other anyway. */
const CONNECTIONS_MAX = 4;
/** The first half of every lock's name: a number that only has to differ from other programs'. */
const LOCKS = 1_402_718_296;

/** Counts are of the last minute: a server that crashed may forget them, and nothing waits for its disk. */
const MAKE_TABLE = `
  SELECT pg_advisory_xact_lock(${LOCKS}, 0);
  CREATE SCHEMA IF NOT EXISTS ${SCHEMA};
  CREATE UNLOGGED TABLE IF NOT EXISTS ${SCHEMA}.accounts (model text PRIMARY KEY, account jsonb NOT NULL)`;

/** By the clock of the server, which all workers share. */
const READ = `
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
    (SELECT account FROM accounts WHERE model = $1) AS account`;

const WRITE = `
  INSERT INTO accounts (model, account) VALUES ($1, $2)
  ON CONFLICT (model) DO UPDATE SET account = excluded.account`;

/** What is read of a model, and what is made of it. */
type Step<T> = (account: Account, now: number) => { readonly account: Account; readonly answer: T };

/** A limiter that all workers on one PostgreSQL share. Server away: no room, for nobody can say how much there is. */
export function postgresLimiter(
  { url, log, connections = CONNECTIONS_MAX }: { url: string; log: Log; connections?: number },
  limits: ModelLimits,
): Limiter {
  const pool = openPool({ url, schema: SCHEMA, max: connections, durable: false, log });
  const unlimited = limits.requestsPerMinute === null && limits.tokensPerMinute === null;
  let made: Promise<void> | null = null;
  const ready = (): Promise<void> => {
    made ??= makeTable(pool).catch((error) => {
      made = null; // the next call tries again
      throw error;
    });
    return made;
  };
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      await ready();
      return await work();
    } catch (cause) {
      throw uncounted(cause);
    }
  };
  const change = <T>(model: string, step: Step<T>): Promise<T> => run(() => changed(pool, model, step));
  return {
    reserve: async (model, tokens) => {
      const step: Step<ReturnType<typeof reserveIn>['answer']> = (account, now) =>
        reserveIn(account, limits, { now, tokens: Math.ceil(tokens) });
      return unlimited ? run(async () => lookedAt(pool, model, step)) : change(model, step);
    },
    correct: async (model, id, tokens) => {
      if (unlimited) return;
      await change(model, (account) => ({ account: correctIn(account, id, Math.ceil(tokens)), answer: null }));
    },
    pause: async (model, ms) => {
      await change(model, (account, now) => ({ account: pauseIn(account, now + ms), answer: null }));
    },
    close: () => pool.end(),
  };
}

/** Safe when several processes start at once: one makes it, the others wait. */
async function makeTable(pool: Pool): Promise<void> {
  await pool.query(MAKE_TABLE); // several statements in one query are one transaction
}

/** One after the other for all who change the same model. */
async function changed<T>(pool: Pool, model: string, step: Step<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${LOCKS}, ${lockOf(model)})`);
    const { account, now } = await read(client, model);
    const next = step(account, now);
    await client.query(WRITE, [model, JSON.stringify(next.account)]);
    await client.query('COMMIT');
    client.release();
    return next.answer;
  } catch (error) {
    client.release(true); // whatever state the connection is in, nobody meets it
    throw error;
  }
}

/** Without limits only a pause matters, and nothing is written. */
async function lookedAt<T>(pool: Pool, model: string, step: Step<T>): Promise<T> {
  const { account, now } = await read(pool, model);
  return step(account, now).answer;
}

async function read(client: Pool | PoolClient, model: string): Promise<{ account: Account; now: number }> {
  const { rows } = await client.query<{ now: number; account: Account | null }>(READ, [model]);
  const [row] = rows;
  if (row === undefined) throw new Error('a query for one row always has one');
  return { account: row.account ?? NEW_ACCOUNT, now: row.now };
}

/** Two models with one lock only wait for each other. 0 is the lock of the table's making. */
const lockOf = (model: string): number => createHash('sha256').update(model).digest().readUInt32LE(0) >>> 1 || 1;

const uncounted = (cause: unknown): EngineError =>
  new EngineError('expected PostgreSQL to count the model call, got no answer; work waits until PostgreSQL is back', {
    code: 'queue_unavailable',
    retryable: true,
    countsAsTry: false,
    cause,
  });

interface Script {
  readonly text: string;
  readonly hash: string;
}

type Arguments = [keys: number, key: string, ...args: (string | number)[]];

const scriptOf = (text: string): Script => ({ text, hash: createHash('sha1').update(text).digest('hex') });

/**
 * One hash per model: requests and tokens by second of the server's clock, and a pause. The same counting as
 * the engine's models/limits.ts, where its reasons are given; in one script, so that workers never see each other half-way.
 * KEYS[1] hash; ARGV requests limit, tokens limit (−1: none), tokens asked for.
 * Answers {1, second} when granted, {0, milliseconds to wait} when not.
 */
const RESERVE = scriptOf(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local second = tonumber(time[1])
local requestsMax, tokensMax, asked = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if requestsMax < 0 then requestsMax = math.huge end
if tokensMax < 0 then tokensMax = math.huge end
if asked > tokensMax then tokensMax = asked end
local fields = redis.call('HGETALL', KEYS[1])
local uses, old, pausedUntil = {}, {}, 0
for i = 1, #fields, 2 do
  local kind, at = string.match(fields[i], '^(%a):(%d+)$')
  if kind == nil then
    pausedUntil = tonumber(fields[i + 1])
  elseif tonumber(at) <= second - ${SECONDS_COUNTED} then
    old[#old + 1] = fields[i]
  else
    uses[at] = uses[at] or { second = tonumber(at), r = 0, t = 0 }
    uses[at][kind] = tonumber(fields[i + 1])
  end
end
if #old > 0 then redis.call('HDEL', KEYS[1], unpack(old)) end
if pausedUntil > now then return { 0, pausedUntil - now } end
local sorted, requests, tokens = {}, 0, 0
for _, use in pairs(uses) do
  sorted[#sorted + 1] = use
  requests, tokens = requests + use.r, tokens + use.t
end
table.sort(sorted, function(a, b) return a.second < b.second end)
local freed = nil
for _, use in ipairs(sorted) do
  if requests + 1 <= requestsMax and tokens + asked <= tokensMax then break end
  requests, tokens, freed = requests - use.r, tokens - use.t, use.second
end
if freed ~= nil then return { 0, (freed + ${SECONDS_COUNTED}) * 1000 - now } end
redis.call('HINCRBY', KEYS[1], 'r:' .. second, 1)
redis.call('HINCRBY', KEYS[1], 't:' .. second, asked)
redis.call('EXPIRE', KEYS[1], 3600)
return { 1, second }
`);

/** Only a second that still counts is corrected: a field made now would never be cleaned up. */
const SETTLE = scriptOf(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then redis.call('HINCRBY', KEYS[1], ARGV[1], ARGV[2]) end
`);

const PAUSE = scriptOf(`
local time = redis.call('TIME')
local untilMs = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[1])
if untilMs > tonumber(redis.call('HGET', KEYS[1], 'pausedUntil') or '0') then
  redis.call('HSET', KEYS[1], 'pausedUntil', untilMs)
  redis.call('EXPIRE', KEYS[1], 3600)
end
`);

/** Without limits only a pause matters, and nothing is written. Answers with how long it still lasts, in ms. */
const LOOK = scriptOf(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return math.max(0, tonumber(redis.call('HGET', KEYS[1], 'pausedUntil') or '0') - now)
`);
/** A pause that another process has noted is noticed so late at most: a few calls that are refused once more. */
const LOOK_AGAIN_MS = 100;

/** After a call that was not answered the connection is replaced: what lies between may have forgotten it. */
const SILENCE_MS = 5_000;
/**
 * Only then does a call fail: until then it is sent again on the new connection, and whoever waits need not notice. One that
 * was counted without an answer is counted twice, which is too careful for a minute and never too much.
 */
const COMMAND_LIMIT_MS = SILENCE_MS + 3_000;
/** Of an idle connection, so that its end is noticed. */
const KEEP_ALIVE_MS = 10_000;

/** A limiter that all workers on one Redis share. Redis away: no room, for nobody can say how much there is. */
export function redisLimiter(url: string, limits: ModelLimits, nodes: readonly string[] = []): Limiter {
  const redis = newRedis(
    { url, nodes },
    {
      maxRetriesPerRequest: 1,
      commandTimeout: COMMAND_LIMIT_MS,
      socketTimeout: SILENCE_MS,
      keepAlive: KEEP_ALIVE_MS,
    },
  );
  redis.on('error', () => {}); // every call reports its own failure
  const unlimited = limits.requestsPerMinute === null && limits.tokensPerMinute === null;
  const looks = new Map<string, Look>();
  const run = async (script: Script, model: string, ...args: (string | number)[]): Promise<unknown> => {
    try {
      return await runScript(redis, script, [1, `{slowwave}:limits:${model}`, ...args]);
    } catch (cause) {
      throw new EngineError('expected Redis to count the model call, got no answer; work waits until Redis is back', {
        code: 'queue_unavailable',
        retryable: true,
        countsAsTry: false,
        cause,
      });
    }
  };
  return {
    reserve: async (model, tokens) => {
      const asked = Math.ceil(tokens);
      if (unlimited) return looked(looks, model, () => run(LOOK, model));
      const max = [limits.requestsPerMinute ?? -1, limits.tokensPerMinute ?? -1];
      const [granted, figure] = (await run(RESERVE, model, ...max, asked)) as [number, number];
      return granted === 1 ? { kind: 'granted', id: reservationId(figure, asked) } : { kind: 'wait', ms: figure };
    },
    correct: async (model, id, tokens) => {
      const reserved = reservedIn(id);
      if (reserved !== null && !unlimited)
        await run(SETTLE, model, `t:${reserved.second}`, Math.ceil(tokens) - reserved.tokens);
    },
    pause: async (model, ms) => {
      looks.delete(model);
      await run(PAUSE, model, Math.ceil(ms));
    },
    close: async () => redis.disconnect(),
  };
}

/** By its hash, which the server knows after the first time: every call of a model runs two of these. */
async function runScript(redis: Redis, script: Script, args: Arguments): Promise<unknown> {
  try {
    return await redis.evalsha(script.hash, ...args);
  } catch (error) {
    // A server that was restarted, or has dropped its scripts.
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return redis.eval(script.text, ...args);
  }
}

/** A question after a pause that is on its way, or was answered a moment ago. */
interface Look {
  readonly at: number;
  readonly ms: Promise<number>;
}

/** Calls of one moment look once together. */
async function looked(looks: Map<string, Look>, model: string, look: () => Promise<unknown>): Promise<Reservation> {
  const now = performance.now();
  const last = looks.get(model);
  if (last !== undefined && now - last.at < LOOK_AGAIN_MS) return pausedFor(await last.ms);
  const ms = look() as Promise<number>;
  looks.set(model, { at: now, ms });
  // A server that is away is asked again by the next call.
  ms.catch(() => looks.delete(model));
  return pausedFor(await ms);
}

const pausedFor = (ms: number): Reservation => (ms > 0 ? { kind: 'wait', ms } : { kind: 'granted', id: UNCOUNTED });

const UNCOUNTED = reservationId(0, 0);
