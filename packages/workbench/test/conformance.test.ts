import { openPool } from '@slowwave/adapters/postgres';
import { startPostgres, startRedis } from '@slowwave/testkit';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { KINDS, type Server } from '../src/conformance/servers.ts';

const open = async (flag: string, url: string): Promise<Server> => {
  const kind = KINDS.find((one) => one.flag === flag);
  if (kind === undefined) throw new Error(`no kind of server is ${flag}`);
  return kind.open(url);
};

test('a Redis is seen as it is, and emptied', async () => {
  const { url, stop } = await startRedis();
  const redis = new Redis(url);
  const empty = await open('redis', url);
  expect(empty).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+/), holds: [] });
  await redis.set('left', 'behind');
  const full = await open('redis', url);
  expect(full.holds).toEqual(['1 keys in this database']);
  await full.close();
  await empty.clean();
  expect(await redis.dbsize()).toBe(0);
  await empty.close();
  redis.disconnect();
  await stop();
  await expect(open('redis', url)).rejects.toThrow();
});

test('of a PostgreSQL the tables of others are seen, and only schemas go that were not there', async () => {
  const { url, select, stop } = await startPostgres();
  const empty = await open('postgres', url);
  expect(empty).toMatchObject({ version: expect.stringMatching(/^\d+/), holds: [] });
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const pool = openPool({ url, schema: 'public', max: 1, log: quiet });
  await pool.query('CREATE TABLE precious (x integer); CREATE SCHEMA made; CREATE TABLE made.thing (x integer)');
  const full = await open('postgres', url);
  expect([...full.holds].sort()).toEqual(['the table made.thing', 'the table public.precious']);
  await full.close();
  await empty.clean();
  expect(await select("SELECT tablename FROM pg_tables WHERE schemaname IN ('public', 'made')")).toEqual([
    { tablename: 'precious' },
  ]);
  await Promise.all([pool.end(), empty.close()]);
  await stop();
});
