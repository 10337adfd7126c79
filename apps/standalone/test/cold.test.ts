import { setTimeout as sleep } from 'node:timers/promises';
import { S3_REGION, type S3Server, startS3Server } from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, get, post, quiet, said } from './client.ts';
import { type Setup, standalone } from './setups.ts';

const WITHIN_MS = 60_000;

describe('a user who sleeps, with segments in a bucket', () => {
  let setup: Setup;
  let bucket: S3Server;
  let url: string;

  beforeAll(async () => {
    bucket = await startS3Server();
    setup = await standalone({
      ...{
        SLOWWAVE_COLD_DAYS: '0',
        SLOWWAVE_COLD_STORE: `s3://${bucket.bucket}/owners`,
        SLOWWAVE_COLD_KEEP_HOURS: '0',
      },
      ...{ SLOWWAVE_COLD_ENDPOINT: bucket.url, SLOWWAVE_COLD_REGION: S3_REGION },
      ...{ SLOWWAVE_COLD_ACCESS_KEY: bucket.accessKey, SLOWWAVE_COLD_SECRET_KEY: bucket.secretKey },
    });
    url = setup.search;
  });
  afterAll(async () => {
    await setup.close();
    await bucket.close();
  });

  const owner = (id: string) => ({ kind: 'user', id });
  const sleepers = async (): Promise<string[]> =>
    (await get(`${url}/v1/cold`)).body.results.map(({ id }: { id: string }) => id);
  const lie = async (id: string): Promise<void> => {
    expect((await post(`${url}/v1/cold/cool`, owner(id))).body).toEqual({ state: 'asleep' });
    expect(await sleepers()).toContain(id);
  };
  const tell = async (id: string, text: string, headers = {}) => {
    const { body } = await post(`${url}/v1/batches?wait=60000`, { ...said(id, text), flush: true }, headers);
    expect(body.state).toBe('consolidated');
    await quiet(url);
    return body;
  };
  /** Without what differs from answer to answer. */
  const asked = async (id: string) => {
    const question = { user_id: id, query: 'where does she live?', include: ['messages', 'sources'] };
    const search = (await post(`${url}/v1/search`, question)).body;
    const context = (await post(`${url}/v1/context`, { user_id: id, query: 'what to eat?', max_tokens: 400 })).body;
    const profile = (await get(`${url}/v1/users/${id}/profile`)).body;
    const results = search.results.map(({ score: _, ...hit }: { score: number }) => hit);
    return { results, messages: search.messages, text: context.text, profile };
  };

  it('is read where it sleeps, and wakes for whatever else names it', async () => {
    const posted = await tell('ana', 'I live in Oslo and I am allergic to peanuts.', { 'idempotency-key': 'ana-1' });
    const before = await asked('ana');
    expect(before.text).toContain('Oslo');
    const users = (await get(`${url}/v1/users`)).body;
    await lie('ana');
    expect([...bucket.objects.keys()].join()).toMatch(/^owners\/seg_\w+$/);
    expect(await asked('ana')).toEqual(before);
    expect(await asked('ana')).toEqual(before);
    expect((await get(`${url}/v1/users`)).body).toEqual(users);
    expect(await sleepers()).toEqual(['ana']);
    // Ids say whose they are.
    const memory = (await get(`${url}/v1/memories/${before.results[0].id}`)).body;
    expect(memory.memory).toContain('Oslo');
    expect(await sleepers()).toEqual([]);
    expect(await asked('ana')).toEqual(before);
    await lie('ana');
    const again = await post(
      `${url}/v1/batches`,
      { ...said('ana', 'I live in Oslo and I am allergic to peanuts.'), flush: true },
      { 'idempotency-key': 'ana-1' },
    );
    expect(again.body.batch_id).toBe(posted.id);
    expect(await sleepers()).toEqual([]);
    await lie('ana');
    await tell('ana', 'I moved to Lima.');
    expect((await asked('ana')).text).toContain('Lima');
    const { gap } = await quiet(url);
    expect(gap).toBe(0);
    expect((await get(`${url}/v1/doctor`)).body.findings).toEqual([]);
  });

  it('goes on where it was when the process is killed', async () => {
    await tell('ben', 'I live in Rome.');
    const before = await asked('ben');
    await lie('ben');
    await setup.crash();
    await setup.start();
    expect(await asked('ben')).toEqual(before);
    expect((await post(`${url}/v1/cold/wake`, owner('ben'))).body).toEqual({ woken: true });
    expect((await post(`${url}/v1/cold/wake`, owner('ben'))).body).toEqual({ woken: false });
    expect(await asked('ben')).toEqual(before);
  });

  it('is erased with its segment, and it is said what a bucket with versions keeps', async () => {
    await tell('eve', 'I live in Xyzzy.');
    await lie('eve');
    const { body } = await call('DELETE', `${url}/v1/users/eve`);
    const deadline = Date.now() + WITHIN_MS;
    let erasure = body;
    while (erasure.state !== 'erased' && Date.now() < deadline) {
      await sleep(200);
      erasure = (await get(`${url}${body.status_url}`)).body;
    }
    expect(erasure).toMatchObject({ state: 'erased', remains: [], counts: { segments: 1 } });
    expect(await sleepers()).not.toContain('eve');
    expect((await asked('eve')).results).toEqual([]);
  });

  it('that has no segment any more is an error that says what to do', async () => {
    await tell('joe', 'I live in Kyoto.');
    await lie('joe');
    const [key = '', bytes] = [...bucket.objects].at(-1) ?? [];
    bucket.objects.delete(key);
    bucket.objects.set('owners/seg_stray', Buffer.from('x'));
    await setup.crash();
    await setup.start();
    const { status, body } = await post(`${url}/v1/batches`, said('joe', 'I live in Cairo.'));
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'unavailable' });
    const { healthy, findings } = (await get(`${url}/v1/doctor`)).body;
    expect({
      healthy,
      found: findings.map(({ check, severity }: { check: string; severity: string }) => `${check} ${severity}`),
    }).toEqual({
      healthy: false,
      found: ['segments error', 'segments warning'],
    });
    expect((await post(`${url}/v1/cold/sweep`, {})).body).toEqual({ deleted: ['seg_stray'] });
    bucket.objects.set(key, bytes ?? Buffer.alloc(0));
    expect((await post(`${url}/v1/batches`, said('joe', 'I live in Cairo.'))).status).toBe(202);
  });
});
