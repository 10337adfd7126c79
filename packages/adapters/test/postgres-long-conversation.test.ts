import { DEFAULT_TENANT, type Ledger } from '@slowwave/engine';
import { bitsOf, newBatch, newMessage, recordingLog, scope, user } from '@slowwave/engine-testing';
import { afterAll, expect, it } from 'vitest';
import { openPostgresLedger } from '../src/postgres/index.ts';
import { systemTools as tools } from '../src/system/index.ts';
import { ledgerServer } from './postgres-ledger-fixture.ts';

const POLICY = { tokens: 1_000, idleMs: 0, maxAgeMs: 0 };
const LATER_MS = 1_000;
/** Of which each has two messages. */
const BATCHES = 5;

const shared = await ledgerServer();
afterAll(shared.stop);

/** So many consolidations of what a user goes on saying. */
async function goOn(ledger: Ledger, userId: string, times: number): Promise<void> {
  const owner = user(userId);
  for (let time = 0; time < times; time += 1) {
    for (let i = 0; i < BATCHES; i += 1) {
      const messages = [newMessage(tools), newMessage(tools, { role: 'assistant' })];
      await ledger.batches.append(newBatch(tools, { scope: scope({ userId }), messages }), POLICY);
    }
    const lane = await ledger.lanes.find(DEFAULT_TENANT, owner);
    const job = { lane: lane?.id ?? ('' as never), generation: lane?.generation ?? 0 };
    const now = tools.now() + LATER_MS;
    const window = { maxTokens: 100_000, maxBatches: BATCHES };
    const claimed = await ledger.lanes.claim(job, { now, window, newConsolidationId: tools.id('con', bitsOf(tools)) });
    if (claimed.kind !== 'claimed') throw new Error(`expected a turn, got ${claimed.kind}`);
    const batches = new Map(claimed.turn.batchIds.map((id) => [id, 'empty'] as const));
    const nothing = { changes: [], tombstones: [], reviews: [], attacks: [], wishes: [], graph: false, timings: {} };
    expect(await ledger.memories.apply(claimed.turn, { ...nothing, batches, now, policy: POLICY })).toMatchObject({
      kind: 'applied',
    });
  }
}

/** How many entries of the messages' indexes one more consolidation reads after so many. */
async function readAfter(userId: string, times: number): Promise<number> {
  const url = shared.url;
  const inLedger = async (work: (ledger: Ledger) => Promise<void>): Promise<void> => {
    const ledger = await openPostgresLedger({ url, tools, log: recordingLog() });
    await work(ledger).finally(() => ledger.close()); // connections that end report what they read
  };
  const read = async (): Promise<number> => {
    const [row] = await shared.sql(
      "SELECT sum(idx_tup_read)::int AS count FROM pg_stat_user_indexes WHERE relname = 'messages'",
    );
    return Number(row?.count);
  };
  await inLedger((ledger) => goOn(ledger, userId, times));
  const before = await read();
  await inLedger((ledger) => goOn(ledger, userId, 1));
  return (await read()) - before;
}

it('a consolidation reads as much of a long conversation as of a short one', async () => {
  const short = await readAfter('ann', 2);
  const long = await readAfter('bob', 20);
  expect(short).toBeGreaterThan(0);
  expect(long).toBeLessThan(short * 1.2);
});
