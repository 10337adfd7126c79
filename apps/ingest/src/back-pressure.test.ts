import { setImmediate as turn } from 'node:timers/promises';
import { DEFAULT_TENANT, type TenantId } from '@slowwave/engine';
import { newBatch, scope } from '@slowwave/engine/testing';
import { expect, test } from 'vitest';
import { backPressure } from './back-pressure.ts';
import { ingestBench } from './testing/bench.ts';

const SECOND = 1_000;
const HOUR_MS = 3_600_000;
const hello = (userId = 'ann') => ({ user_id: userId, messages: [{ role: 'user', content: 'I moved to Berlin.' }] });

test('while too many batches wait new ones are told to come again; once they are worked off all is well', async () => {
  const { post, engine } = await ingestBench(undefined, { maxPending: { perTenant: 3, total: 100, lateMs: HOUR_MS } });
  await post(hello());
  await turn(); // the count goes on beside
  for (let i = 0; i < 2; i += 1) expect((await post(hello())).statusCode).toBe(202);
  const refused = await post(hello('bob'));
  expect(refused.statusCode).toBe(429);
  expect(refused.headers['retry-after']).toBe('5');
  expect(refused.json()).toMatchObject({
    code: 'too_many_requests',
    detail: expect.stringContaining('3 batches wait'),
  });
  await engine.run();
  engine.tools.advance(SECOND);
  await post(hello()); // notices that the count is old
  await turn();
  expect((await post(hello())).statusCode).toBe(202);
});

test('a resent batch is not counted twice', async () => {
  const { post } = await ingestBench(undefined, { maxPending: { perTenant: 2, total: 100, lateMs: HOUR_MS } });
  await post(hello());
  await turn();
  const key = { 'idempotency-key': 'one' };
  expect((await post(hello('bob'), key)).statusCode).toBe(202);
  expect((await post(hello('bob'))).statusCode).toBe(429);
});

test('all tenants together have a limit of their own', async () => {
  const { engine } = await ingestBench();
  const { ledger, settings } = engine.deps;
  for (const tenant of ['one', 'two'] as TenantId[]) {
    await ledger.batches.append(newBatch(engine.tools, { tenant }), settings.due);
  }
  const pressure = backPressure({ ...engine.deps, maxPending: { perTenant: 10, total: 2, lateMs: HOUR_MS } });
  pressure.check(DEFAULT_TENANT);
  await turn();
  expect(() => pressure.check(DEFAULT_TENANT)).toThrow('2 batches of all tenants wait already');
});

test('a ledger that cannot count refuses nobody, and an old count refuses nobody either', async () => {
  const { engine } = await ingestBench();
  const { ledger } = engine.deps;
  let away = false;
  const counts = async (): Promise<number> => (away ? Promise.reject(new Error('the ledger is away')) : 1);
  const pressure = backPressure({
    ...engine.deps,
    ledger: { ...ledger, overview: { ...ledger.overview, backlog: counts } },
    maxPending: { perTenant: 1, total: 1, lateMs: HOUR_MS },
  });
  pressure.check(DEFAULT_TENANT);
  await turn();
  expect(() => pressure.check(DEFAULT_TENANT)).toThrow('1 batches wait already');
  away = true;
  engine.tools.advance(20 * SECOND);
  expect(() => pressure.check(DEFAULT_TENANT)).not.toThrow();
  await turn();
  expect(() => pressure.check(DEFAULT_TENANT)).not.toThrow();
});

test('a long count is made seldom', async () => {
  const { engine } = await ingestBench();
  const { ledger, tools } = engine.deps;
  let counted = 0;
  const slow = async (): Promise<number> => {
    counted += 1;
    engine.tools.advance(50);
    return 0;
  };
  const pressure = backPressure({
    ...engine.deps,
    tools,
    ledger: { ...ledger, overview: { ...ledger.overview, backlog: slow } },
    maxPending: { perTenant: 1, total: 1, lateMs: HOUR_MS },
  });
  for (let i = 0; i < 10; i += 1) {
    pressure.check(DEFAULT_TENANT);
    await turn();
    engine.tools.advance(SECOND);
  }
  expect(counted).toBeLessThanOrEqual(6); // twice each: for the tenant and for all
});

test('a tenant whose users have been due for too long is told to come again, and nobody else; then all is well', async () => {
  const { engine } = await ingestBench();
  const { ledger, settings } = engine.deps;
  const other = 'other' as TenantId;
  const few = 'few' as TenantId;
  const append = (tenant: TenantId, userId: string, priority: 'live' | 'backfill' = 'live') =>
    ledger.batches.append(
      newBatch(engine.tools, { tenant, scope: scope({ userId }), priority, flush: true }),
      settings.due,
    );
  for (let i = 0; i < 60; i += 1) {
    await append(DEFAULT_TENANT, `user ${i}`);
    await append(other, `user ${i}`, 'backfill');
  }
  await append(few, 'one');
  const pressure = backPressure({ ...engine.deps, maxPending: { perTenant: 1_000, total: 1_000, lateMs: HOUR_MS } });
  const looked = async (): Promise<void> => {
    pressure.check(few);
    await turn();
    await turn();
  };
  await looked();
  expect(() => pressure.check(DEFAULT_TENANT)).not.toThrow();
  engine.tools.advance(HOUR_MS + SECOND);
  await looked();
  expect(() => pressure.check(DEFAULT_TENANT)).toThrow('50 users have been due for more than 60 minutes');
  expect(() => pressure.check(other)).not.toThrow();
  expect(() => pressure.check(few)).not.toThrow();
  await engine.run();
  engine.tools.advance(10 * SECOND);
  await looked();
  expect(() => pressure.check(DEFAULT_TENANT)).not.toThrow();
});
