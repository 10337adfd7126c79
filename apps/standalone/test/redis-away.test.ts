import { startRedis } from '@slowwave/testkit';
import { expect, it } from 'vitest';
import { get, post, quiet, said } from './client.ts';
import { standalone } from './setups.ts';

const USERS = 30;
const WITHIN_MS = 120_000;

it(
  'while Redis is away posts are acknowledged and searches answered; when it is back, empty, everything is consolidated',
  async () => {
    let redis = await startRedis();
    const setup = await standalone({ REDIS_URL: redis.url });
    const { ingest, search } = setup;
    const postAll = async (what: string): Promise<void> => {
      const users = Array.from({ length: USERS }, (_, i) => `user-${i}`);
      const answers = await Promise.all(
        users.map((user) => post(`${ingest}/v1/batches`, said(user, `I like ${what} of ${user}`))),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    };
    try {
      await postAll('the tea');
      await redis.stop();
      await postAll('the cake');
      const ready = await get(`${ingest}/readyz`);
      expect(ready).toMatchObject({ status: 503, body: { checks: { ledger: { ok: true }, queue: { ok: false } } } });
      expect((await post(`${search}/v1/search`, { user_id: 'user-1', query: 'tea' })).status).toBe(200);
      expect((await get(`${search}/v1/stats`)).body.batches.accepted).toBe(2 * USERS);
      redis = await startRedis({ port: redis.port });
      const counts = await quiet(search, WITHIN_MS);
      expect(counts).toMatchObject({ accepted: 2 * USERS, consolidated: 2 * USERS, parked: 0 });
      await expect.poll(async () => (await get(`${ingest}/readyz`)).status, { timeout: WITHIN_MS }).toBe(200);
    } finally {
      await setup.close();
      await redis.stop();
    }
  },
  WITHIN_MS * 2,
);
