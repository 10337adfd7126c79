import { DEFAULT_TENANT, type Ledger } from '@slowwave/engine';
import { bitsOf, newBatch, newMessage, recordingLog, scope, user } from '@slowwave/engine-testing';
import { afterAll, expect, it } from 'vitest';
import { openPostgresLedger } from '../src/postgres/index.ts';
import { systemTools as tools } from '../src/system/system.ts';
import { ledgerServer } from './postgres-ledger-fixture.ts';

const POLICY = { tokens: 1_000, idleMs: 0, maxAgeMs: 0 };
const LATER_MS = 1_000;

const shared = await ledgerServer();
afterAll(shared.stop);

/** Of one consolidation. */
interface Speech {
  readonly batches: number;
  /** Of each batch. */
  readonly messages: number;
}

const USUAL: Speech = { batches: 5, messages: 2 };
const MUCH: Speech = { batches: 1, messages: 80 };

interface Speaking {
  readonly userId: string;
  readonly times: number;
  readonly speech?: Speech;
}

/** So many consolidations of what a user goes on saying. */
async function goOn(ledger: Ledger, { userId, times, speech = USUAL }: Speaking): Promise<void> {
  const owner = user(userId);
  for (let time = 0; time < times; time += 1) {
    for (let i = 0; i < speech.batches; i += 1) {
      const messages = Array.from({ length: speech.messages }, (_, n) =>
        newMessage(tools, { role: n % 2 === 0 ? 'user' : 'assistant' }),
      );
      await ledger.batches.append(newBatch(tools, { scope: scope({ userId }), messages }), POLICY);
    }
    const lane = await ledger.lanes.find(DEFAULT_TENANT, owner);
    const job = { lane: lane?.id ?? ('' as never), generation: lane?.generation ?? 0 };
    const now = tools.now() + LATER_MS;
    const how = { now, window: { maxTokens: 100_000, maxBatches: speech.batches }, recentCount: 10 };
    const claimed = await ledger.lanes.claim(job, { ...how, newConsolidationId: tools.id('con', bitsOf(tools)) });
    if (claimed.kind !== 'claimed') throw new Error(`expected a turn, got ${claimed.kind}`);
    const batches = new Map(claimed.turn.batchIds.map((id) => [id, 'empty'] as const));
    const nothing = {
      plan: null,
      changes: [],
      tombstones: [],
      reviews: [],
      attacks: [],
      wishes: [],
      graph: false,
      measured: null,
    };
    expect(await ledger.memories.apply(claimed.turn, { ...nothing, batches, now, policy: POLICY })).toMatchObject({
      kind: 'applied',
    });
    const left = await ledger.outbox.ofConsolidation(claimed.turn, null);
    const told = left.batches.map(({ id, revision, messages }) => ({ id, revision, points: messages.length }));
    expect(await ledger.outbox.clear({ seqs: [], batches: told, from: null }, now)).toHaveLength(speech.batches);
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
  await inLedger((ledger) => goOn(ledger, { userId, times }));
  const before = await read();
  await inLedger((ledger) => goOn(ledger, { userId, times: 1 }));
  return (await read()) - before;
}

it('a consolidation reads as much of a long conversation as of a short one', async () => {
  const short = await readAfter('ann', 2);
  const long = await readAfter('bob', 20);
  expect(short).toBeGreaterThan(0);
  expect(long).toBeLessThan(short * 1.2);
});

/** So many others say much. */
const YOUNG = 10;
const GROWN = 40;
/** So often, that a connection has planned each statement for good. */
const PLANNED = 8;

interface Course {
  /** Others, of whom each says much, before ann says anything and in the middle. */
  readonly others: readonly [number, number];
  /** How often ann is consolidated before others go on, and after. */
  readonly ann: number;
}

/** How many rows are read of what grows with each consolidation. Others have connections of their own. */
async function rowsRead({ others, ann }: Course): Promise<number> {
  const url = await shared.newDatabase();
  const open = () => openPostgresLedger({ url, tools, log: recordingLog() });
  const [hers, theirs] = await Promise.all([open(), open()]);
  for (const [part, count] of others.entries()) {
    for (let n = 0; n < count; n += 1) await goOn(theirs, { userId: `other-${part}-${n}`, times: 1, speech: MUCH });
    await goOn(hers, { userId: 'ann', times: ann });
  }
  await Promise.all([hers.close(), theirs.close()]); // connections that end report what they read
  const [row] = await shared.sql(ROWS_READ, url);
  return Number(row?.count);
}

const ROWS_READ = `
  SELECT sum(seq_tup_read + idx_tup_fetch)::int AS count FROM pg_stat_user_tables
  WHERE relname IN ('lanes', 'batches', 'messages', 'consolidations')`;

it('a connection that planned its statements while the ledger was young reads as little of a grown one', async () => {
  const herPart = async (others: Course['others']): Promise<number> =>
    (await rowsRead({ others, ann: PLANNED })) - (await rowsRead({ others, ann: 0 }));
  const young = await herPart([YOUNG, 0]);
  const grown = await herPart([YOUNG, GROWN]);
  expect(young).toBeGreaterThan(0);
  expect(grown).toBeLessThan(young * 1.2);
});
