import { QUEUES } from '@slowwave/contracts';
import { DEFAULT_TENANT, type LaneId } from '@slowwave/engine';
import { recordingLog } from '@slowwave/engine-testing';
import { startPostgres, type TestPostgres } from '@slowwave/testkit';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  memoryConnection,
  openErasureQueue,
  openSchedule,
  postgresConnection,
  type QueueConnection,
  queueFor,
  startTurnWorker,
} from '../src/bullmq/index.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
const MINE = 'lane_mine' as LaneId;
const log = recordingLog();
let postgres: TestPostgres;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres.stop();
});

it('a queue on PostgreSQL forgets the jobs of a lane, and why they failed', async () => {
  const connection = postgresConnection({ url: postgres.url, log });
  await failAndForget(connection);
  await connection.close();
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  const { rows } = await client.query(
    'SELECT data::text FROM bullmq.event UNION ALL SELECT data::text FROM bullmq.job',
  );
  await client.end();
  expect(JSON.stringify(rows)).not.toContain(MINE);
});

it('a queue in memory forgets a lane at the first try', async () => {
  const connection = memoryConnection();
  expect(await failAndForget(connection)).toBe(0);
  await connection.close();
});

/** Answers with how many failed jobs are left. */
async function failAndForget(connection: QueueConnection): Promise<number> {
  const schedule = await openSchedule({ connection, log });
  const worker = startTurnWorker({
    connection,
    concurrency: 1,
    log,
    handler: async ({ lane }) => ({ kind: 'parked', reason: `model_rejected: the words of ${lane}`, next: null }),
  });
  await schedule.nudge([{ lane: MINE, generation: 1, dueAt: 0, tenant: DEFAULT_TENANT, priority: 'live' }]);
  const turns = queueFor(connection, QUEUES.consolidate.name);
  await vi.waitFor(async () => expect(await turns.getFailedCount()).toBe(1), PATIENCE);
  await worker.close();
  const queue = await openErasureQueue({ connection, log });
  await queue.forgetLane(MINE);
  const left = await turns.getFailedCount();
  await Promise.all([queue.close(), schedule.close(), turns.close()]);
  return left;
}
