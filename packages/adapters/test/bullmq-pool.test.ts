import { join } from 'node:path';
import { type TempDir, tempDir } from '@slowwave/testkit';
import { LATEST_SCHEMA_VERSION, type PgNotification, type PgPool } from 'bullmq';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { callQueue, newPulse } from '../src/bullmq/calls.ts';
import { openPools } from '../src/bullmq/pglite-pool.ts';
import { startThread, type Thread } from '../src/system/index.ts';

let folder: TempDir;
let thread: Thread;
let pools: ReturnType<typeof openPools>;
let pool: PgPool;

beforeAll(async () => {
  folder = await tempDir();
  const init = { imagePath: join(folder.path, 'image'), schemaVersion: LATEST_SCHEMA_VERSION };
  thread = await startThread(new URL('../src/bullmq/pglite-thread.ts', import.meta.url), init);
  pools = openPools(thread);
  pool = pools.other;
  await pool.query('CREATE TABLE t (n int)');
});
afterAll(async () => {
  await thread.close();
  await folder.remove();
});

const numbers = async (): Promise<number[]> => {
  const { rows } = await pool.query<{ n: number }>('SELECT n FROM t ORDER BY n');
  return rows.map((row) => row.n);
};

describe('PGlite as a pool', () => {
  test('values arrive as node-postgres gives them', async () => {
    const { rows } = await pool.query(
      `SELECT $1::int8 AS big, $2::jsonb AS json, $3::text[] AS list, $4::boolean AS yes, $5::timestamptz AS at,
              1.5::numeric AS exact, 2::int AS small, 0.5::float8 AS half, NULL::text AS nothing`,
      [9_007_199_254_740_993n, { a: [1, null] }, ['x', 'y "z"'], true, new Date(0)],
    );
    expect(rows).toEqual([
      {
        big: '9007199254740993',
        json: { a: [1, null] },
        list: ['x', 'y "z"'],
        yes: true,
        at: new Date(0),
        exact: '1.5',
        small: 2,
        half: 0.5,
        nothing: null,
      },
    ]);
  });

  test('errors keep their SQL code and detail', async () => {
    const failing = pool.query(`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'BM001', DETAIL = '-7'; END $$`);
    await expect(failing).rejects.toMatchObject({ message: 'no', code: 'BM001', detail: '-7' });
  });

  test('nobody else gets into an open transaction', async () => {
    await pool.query('DELETE FROM t');
    const client = await pool.connect();
    await client.query('-- a comment first\nBEGIN');
    await client.query('INSERT INTO t VALUES (1)');
    const outside = pool.query('INSERT INTO t VALUES (2)');
    await client.query('ROLLBACK');
    await outside;
    client.release();
    expect(await numbers()).toEqual([2]);
  });

  test('two transactions follow each other', async () => {
    await pool.query('DELETE FROM t');
    const add = async (n: number): Promise<void> => {
      const client = await pool.connect();
      await client.query('BEGIN');
      await client.query('INSERT INTO t VALUES ($1)', [n]);
      await client.query(n % 2 === 0 ? 'COMMIT' : 'ROLLBACK');
      client.release();
    };
    await Promise.all([add(1), add(2), add(3), add(4)]);
    expect(await numbers()).toEqual([2, 4]);
  });

  test('a transaction left open by a released client is undone', async () => {
    await pool.query('DELETE FROM t');
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('INSERT INTO t VALUES (1)');
    client.release();
    expect(await numbers()).toEqual([]);
  });

  test('a transaction that failed gives the session back with its rollback', async () => {
    const client = await pool.connect();
    await client.query('BEGIN');
    await expect(client.query('SELECT nonsense')).rejects.toMatchObject({ code: '42703' });
    await client.query('ROLLBACK');
    client.release();
    await expect(pool.query('SELECT 1')).resolves.toMatchObject({ rowCount: 1 });
  });

  test('a connected client hears notifications and holds up nobody', async () => {
    const heard: PgNotification[] = [];
    const client = await pool.connect();
    client.on('notification', (notice) => heard.push(notice));
    await client.query('-- subscribe\nLISTEN news;\n');
    await pool.query('SELECT pg_notify($1, $2)', ['news', 'hello']);
    await vi.waitFor(() => expect(heard).toEqual([{ channel: 'news', payload: 'hello' }]));
    client.release();
    await pool.query('SELECT pg_notify($1, $2)', ['news', 'again']);
    expect(heard).toHaveLength(1);
  });

  /** Whatever is asked meanwhile stands in line. */
  const hold = async (): Promise<() => Promise<void>> => {
    const client = await pool.connect();
    await client.query('BEGIN');
    return async () => {
      await client.query('COMMIT');
      client.release();
    };
  };
  const asking = (line: keyof typeof pools, done: string[], name: string): Promise<void> =>
    pools[line].query('SELECT 1').then(() => void done.push(name));

  test('what keeps work going is taken before what stands in line longer, and the others are not forgotten', async () => {
    const letGo = await hold();
    const done: string[] = [];
    const others = ['a', 'b', 'c'].map((name) => asking('other', done, name));
    const work = Array.from({ length: 10 }, (_, i) => asking('work', done, String(i)));
    await letGo();
    await Promise.all([...others, ...work]);
    expect(done).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', 'a', '8', '9', 'b', 'c']);
  });

  test('a call whose caller has given up is not made any more, one whose caller still waits is', async () => {
    await pool.query('DELETE FROM t');
    const letGo = await hold();
    const silent = newPulse();
    silent.missed(); // callers of a silent queue wait for two seconds
    const add = (n: number, calledQueue = { place: 'PGlite', pulse: silent }) =>
      callQueue(calledQueue, () => pool.query('INSERT INTO t VALUES ($1)', [n]));
    const patient = add(2, { place: 'PGlite', pulse: newPulse() });
    await expect(add(1)).rejects.toMatchObject({ code: 'queue_unavailable' });
    const last = add(3, { place: 'PGlite', pulse: newPulse() });
    await letGo();
    await Promise.all([patient, last]);
    expect(await numbers()).toEqual([2, 3]);
  });

  test('a transaction whose caller gives up in its middle is finished', async () => {
    await pool.query('DELETE FROM t');
    const silent = newPulse();
    silent.missed();
    const { promise: given, resolve } = Promise.withResolvers<void>();
    let finished: Promise<void> = Promise.resolve();
    const call = callQueue({ place: 'PGlite', pulse: silent }, () => {
      finished = (async () => {
        const client = await pool.connect();
        await client.query('BEGIN');
        await client.query('INSERT INTO t VALUES (7)');
        await given;
        await client.query('COMMIT');
        client.release();
      })();
      return finished;
    });
    await expect(call).rejects.toMatchObject({ code: 'queue_unavailable' });
    resolve();
    await finished;
    expect(await numbers()).toEqual([7]);
  });
});
