import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { QUEUES } from '@slowwave/contracts';
import { newNudge, recordingLog } from '@slowwave/engine-testing';
import { freePort, startRedis, type TempDir, type TestRedis, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openSchedule, queueFor, redisConnection, startTurnWorker } from '../src/bullmq/index.ts';
import { redisLimiter } from '../src/limits/index.ts';

const canMakeCertificates = spawnSync('openssl', ['version']).status === 0;

describe.skipIf(!canMakeCertificates)('Redis over TLS (needs openssl for a certificate)', () => {
  const trusted = getCACertificates('default');
  let folder: TempDir;
  let redis: TestRedis;
  let url: string;

  beforeAll(async () => {
    folder = await tempDir();
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder.path, name)) as [string, string];
    const subject = ['-subj', '/CN=redis', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-keyout', key, '-out', cert];
    execFileSync('openssl', [...made, ...subject], { stdio: 'ignore' });
    const port = await freePort();
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
    redis = await startRedis({ args: ['--tls-port', String(port), '--tls-auth-clients', 'no', ...files] });
    url = `rediss://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    setDefaultCACertificates(trusted);
    await redis.stop();
    await folder.remove();
  });

  const open = () => openSchedule({ connection: redisConnection(url), log: recordingLog() });

  test('a server whose certificate nobody vouches for is refused, with what to do', async () => {
    await expect(open()).rejects.toMatchObject({
      code: 'queue_unavailable',
      message: expect.stringMatching(/rediss:\/\/127\.0\.0\.1:\d+ .*certificate.*NODE_EXTRA_CA_CERTS/),
    });
  });

  test('turns are scheduled, taken, seen and limited over TLS once the certificate is trusted', async () => {
    setDefaultCACertificates([...trusted, readFileSync(join(folder.path, 'cert.pem'), 'utf8')]);
    const schedule = await open();
    const taken: string[] = [];
    const worker = startTurnWorker({
      connection: redisConnection(url),
      concurrency: 1,
      log: recordingLog(),
      handler: async ({ lane }) => {
        taken.push(lane);
        return { kind: 'done', next: null };
      },
    });
    await schedule.nudge([newNudge('lane_a')]);
    await vi.waitFor(() => expect(taken).toEqual(['lane_a']), { timeout: 60_000 });
    const queue = queueFor(redisConnection(url), QUEUES.consolidate.name);
    await vi.waitFor(async () => expect(await queue.getCompletedCount()).toBe(1), { timeout: 60_000 });
    const limiter = redisLimiter(url, { requestsPerMinute: 1, tokensPerMinute: null });
    expect((await limiter.reserve('m', 1)).kind).toBe('granted');
    expect((await limiter.reserve('m', 1)).kind).toBe('wait');
    await Promise.all([worker.close(), schedule.close(), queue.close(), limiter.close()]);
  });
});
