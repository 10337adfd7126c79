import { setImmediate as turn } from 'node:timers/promises';
import { DEFAULT_TENANT, type TenantId } from '@slowwave/engine';
import { newBatch, scope } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { backPressure } from './back-pressure.ts';
import { ingestBench } from './testing/bench.ts';

const SECOND = 1_000;
const HOUR_MS = 3_600_000;
type Engine = Awaited<ReturnType<typeof ingestBench>>['engine'];
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
    detail: expect.stringContaining('3 batches are waiting'),
  });
  await engine.run();
  engine.tools.advance(SECOND);
  await post(hello()); // notices that the count is old
  await turn();
  expect((await post(hello())).statusCode).toBe(202);
});

test('a resent batch is not counted twice', async () => {
  const { post } = await ingestBench(undefined, { maxPending: { perTenant: 3, total: 100, lateMs: HOUR_MS } });
  await post(hello());
  await turn();
  const key = { 'idempotency-key': 'one' };
  expect((await post(hello('bob'), key)).statusCode).toBe(202);
  expect((await post(hello('bob'), key)).statusCode).toBe(200);
  expect((await post(hello('bob'))).statusCode).toBe(202);
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
  expect(() => pressure.check(DEFAULT_TENANT)).toThrow('2 batches of all tenants are waiting');
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
  expect(() => pressure.check(DEFAULT_TENANT)).toThrow('1 batches are waiting');
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

/** So many users of the tenant wait, each with a batch that is due. */
async function dueUsers({ deps, tools }: Engine, users: number, priority: 'live' | 'backfill' = 'live'): Promise<void> {
  for (let i = 0; i < users; i += 1) {
    const batch = newBatch(tools, { scope: scope({ userId: `${priority} ${i}` }), priority, flush: true });
    await deps.ledger.batches.append(batch, deps.settings.due);
  }
}

const ROOM = { perTenant: 10_000, total: 10_000, lateMs: HOUR_MS };

/** Back pressure of a process whose clock differs from that of the workers by so much, after it has looked. */
async function pressureOf({ deps, tools }: Engine, aheadMs = 0) {
  const pressure = backPressure({
    ...deps,
    tools: { ...deps.tools, now: () => tools.now() + aheadMs },
    maxPending: ROOM,
  });
  const looked = async (): Promise<void> => {
    pressure.check(DEFAULT_TENANT);
    for (let i = 0; i < 4; i += 1) await turn();
  };
  await looked();
  return { looked, check: () => pressure.check(DEFAULT_TENANT) };
}

test('a process whose clock is ahead by hours calls nobody late who is not, and those who are', async () => {
  const { engine } = await ingestBench();
  const { lanes } = engine.deps.ledger;
  await dueUsers(engine, 60);
  await lanes.clockSeen(engine.tools.now());
  const { looked, check } = await pressureOf(engine, 5 * HOUR_MS);
  expect(check).not.toThrow();
  engine.tools.advance(HOUR_MS + SECOND);
  await lanes.clockSeen(engine.tools.now());
  await looked();
  expect(check).toThrow('50 users have been due for more than 60 minutes');
});

test('a worker whose clock is ahead by hours makes nobody late either', async () => {
  const { engine } = await ingestBench();
  await dueUsers(engine, 60);
  await engine.deps.ledger.lanes.clockSeen(engine.tools.now() + 5 * HOUR_MS);
  const { check } = await pressureOf(engine);
  expect(check).not.toThrow();
});

test('time goes on while all workers are away', async () => {
  const { engine } = await ingestBench();
  await dueUsers(engine, 60);
  await engine.deps.ledger.lanes.clockSeen(engine.tools.now());
  const { looked, check } = await pressureOf(engine, 5 * HOUR_MS);
  engine.tools.advance(HOUR_MS + SECOND);
  await looked();
  expect(check).toThrow('50 users have been due');
});

test('users who are late are seen behind any number of late backfill', async () => {
  const { engine } = await ingestBench();
  await dueUsers(engine, 1_001, 'backfill');
  engine.tools.advance(SECOND);
  await dueUsers(engine, 50);
  engine.tools.advance(HOUR_MS + SECOND);
  const { check } = await pressureOf(engine);
  expect(check).toThrow('50 users have been due');
});
