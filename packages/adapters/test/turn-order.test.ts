import { recordingLog } from '@slowwave/engine-testing';
import { startPostgres, startRedis } from '@slowwave/testkit';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { postgresConnection } from '../src/bullmq/index.ts';
import { BEFORE_FIRST, LAST_ROUND, memoryTurnOrder, type TurnOrder } from '../src/bullmq/jobs.ts';
import { postgresTurnOrder } from '../src/bullmq/postgres.ts';
import { redisTurnOrder } from '../src/bullmq/redis.ts';

const FIRST = BEFORE_FIRST + 1;

const redis = await startRedis();
const client = new Redis(redis.url);
const postgres = await startPostgres();
const pool = new Pool({ connectionString: postgres.url, options: '-c search_path=bullmq' });
const connection = postgresConnection({ url: postgres.url, log: recordingLog() });
await connection.ready();
afterAll(async () => {
  await client.quit();
  await pool.end();
  await connection.close();
  await Promise.all([redis.stop(), postgres.stop()]);
});

describe.each<[string, () => Promise<TurnOrder>]>([
  ['in memory', async () => memoryTurnOrder()],
  [
    'on Redis',
    async () => {
      await client.flushall();
      return redisTurnOrder('{test}', async () => client);
    },
  ],
  [
    'on PostgreSQL',
    async () => {
      await pool.query('DELETE FROM turn_rounds');
      return postgresTurnOrder(pool);
    },
  ],
])('the order of turns %s', (_name, open) => {
  let order: TurnOrder;
  beforeEach(async () => {
    order = await open();
  });
  const next = (tenant: string, count = 1) => order.next('live', tenant, count);

  test('each turn of a tenant gets the round after its last', async () => {
    expect([await next('a'), await next('a', 3), await next('a')]).toEqual([FIRST, FIRST + 1, FIRST + 4]);
  });

  test('another tenant begins with the round that is next', async () => {
    await next('a', 5_000);
    expect(await next('b')).toBe(FIRST);
    await order.begin('live', FIRST + 9);
    expect(await next('b')).toBe(FIRST + 10);
    expect(await next('a')).toBe(FIRST + 5_000);
  });

  test('nobody gets a round that has begun, and rounds never go back', async () => {
    await next('a', 3);
    await order.begin('live', FIRST + 7);
    await order.begin('live', FIRST + 2);
    expect(await next('a')).toBe(FIRST + 8);
  });

  test('backfill counts its own rounds', async () => {
    await next('a', 7);
    expect(await order.next('backfill', 'a', 1)).toBe(FIRST);
    await order.begin('backfill', FIRST + 3);
    expect(await next('a')).toBe(FIRST + 7);
  });

  test('counting begins anew when there are no more numbers, and old turns do not bring the old count back', async () => {
    await order.begin('live', Math.floor(LAST_ROUND / 3));
    await order.begin('live', Math.floor((LAST_ROUND / 3) * 2));
    await order.begin('live', LAST_ROUND - 2);
    await next('old', 1);
    expect(await next('a', 2)).toBe(LAST_ROUND - 1);
    expect(await next('a', 2)).toBe(FIRST);
    await order.begin('live', LAST_ROUND - 1);
    expect(await next('b')).toBe(FIRST);
    expect(await next('old')).toBe(FIRST);
    expect(await next('a')).toBe(FIRST + 2);
  });

  test('many that ask at the same moment get rounds of their own', async () => {
    const rounds = await Promise.all(Array.from({ length: 50 }, () => next('a')));
    expect(new Set(rounds).size).toBe(50);
    expect(Math.max(...rounds)).toBe(FIRST + 49);
  });
});
