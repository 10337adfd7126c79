import { systemTools } from '@slowwave/adapters/system';
import { DEFAULT_TENANT, type Ledger } from '@slowwave/engine';
import { newBatch, scope, user } from '@slowwave/engine-testing';
import { startRedis, type TempDir, type TestRedis, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLedgerIn, program, slowwave } from './slowwave.ts';

describe('slowwave rebuild queue', () => {
  let folder: TempDir;
  let redis: TestRedis;
  let ledger: Ledger;
  beforeAll(async () => {
    [folder, redis] = await Promise.all([tempDir(), startRedis()]);
    ledger = await openLedgerIn(folder.path);
  });
  afterAll(async () => {
    await ledger.close();
    await redis.stop();
    await folder.remove();
  });

  const rebuild = (env: Readonly<Record<string, string>> = {}) =>
    slowwave(['rebuild', 'queue', '--json', '--data-dir', folder.path], env);

  it('tells Redis every lane with work once, due or not; again it changes nothing', async () => {
    for (const userId of ['ann', 'bob', 'cid']) {
      const batch = newBatch(systemTools, { scope: scope({ userId }), flush: userId === 'ann' });
      await ledger.batches.append(batch, { tokens: 1_000, idleMs: 60_000, maxAgeMs: 60_000 });
    }
    const env = { REDIS_URL: redis.url };
    const first = await program(['rebuild', 'queue', '--json', '--data-dir', folder.path], env);
    expect(first.json()).toEqual({ lanes: 3, scheduled: 3 });
    expect((await rebuild(env)).json()).toEqual({ lanes: 3, scheduled: 0 });
    expect((await ledger.lanes.find(DEFAULT_TENANT, user('ann')))?.state).toBe('waiting');
  });

  it('says that a queue in process needs nothing, and that a server which is away cannot be told', async () => {
    const inProcess = await rebuild();
    expect(inProcess.code).toBe(0);
    expect(inProcess.json().note).toContain('there is nothing to rebuild');
    const away = await rebuild({ REDIS_URL: 'redis://127.0.0.1:1' });
    expect(away).toMatchObject({ code: 5, err: expect.stringContaining('redis://127.0.0.1:1') });
  });
});
