import { DEFAULT_TENANT, EngineError, type NewReceipt } from '@slowwave/engine';
import { createMemoryLedger, fixedTools, recordingLog, scope, user } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { AT_ONCE, PER_SECOND, receiptsOf } from './audit-and-receipts.ts';

const AWAY = new EngineError('the disk is full', { code: 'ledger_unavailable', retryable: true });

async function bench(gatherMs = 1) {
  const tools = fixedTools();
  const ledger = createMemoryLedger({ tools });
  const lane = await ledger.memories.laneOf(DEFAULT_TENANT, user('ann'), tools.now());
  const counts = { written: 0, omitted: 0, lost: 0 };
  const bobs = await ledger.memories.laneOf(DEFAULT_TENANT, user('bob'), tools.now());
  const groups: number[] = [];
  /** now: whatever is written. bobs: what comes before the receipts of one lane are written. */
  const trouble: { now: Error | null; bobs: () => Promise<void> } = { now: null, bobs: async () => {} };
  const append = async (receipts: readonly NewReceipt[]) => {
    if (trouble.now !== null) throw trouble.now;
    if (receipts.some((one) => one.lane === bobs)) await trouble.bobs();
    groups.push(receipts.length);
    await ledger.receipts.append(receipts);
  };
  const log = recordingLog();
  const receipts = receiptsOf({
    ...{ ledger: { receipts: { append } }, tools, log, gatherMs },
    counted: (outcome, count) => {
      counts[outcome] += count;
    },
  });
  const note = (given: Partial<NewReceipt> = {}) =>
    receipts.note({
      ...{ tenant: DEFAULT_TENANT, lane, route: 'search', scope: scope(), ownApp: false, question: 'Where?' },
      ...{ filters: null, asOf: null, position: 1, told: [] },
      ...given,
    });
  const found = (id: string | null) => ledger.receipts.get(DEFAULT_TENANT, id ?? '');
  return { tools, counts, groups, trouble, bobs, log, receipts, note, found };
}

test('a receipt has an id at once, and is written with others beside what goes on', async () => {
  const { note, found, groups, counts, tools, receipts } = await bench();
  const ids = Array.from({ length: 150 }, () => note());
  expect([new Set(ids).size, await found(ids[0] ?? null)]).toEqual([150, null]);
  await expect.poll(() => counts.written).toBe(150);
  expect(groups).toEqual([100, 50]);
  expect(await found(ids[149] ?? null)).toMatchObject({ id: ids[149], at: tools.now(), question: 'Where?' });
  await receipts.close();
});

test('nobody waits for a ledger that does not answer', async () => {
  const { note, trouble, receipts, counts, log } = await bench();
  trouble.now = AWAY;
  const ids = [note(), note()];
  await expect.poll(() => log.lines).toMatchObject([{ message: 'receipts are waiting for the ledger' }]);
  expect(ids.map((id) => id?.slice(0, 4))).toEqual(['rcp_', 'rcp_']);
  trouble.now = null;
  await receipts.close();
  expect(counts).toEqual({ written: 2, omitted: 0, lost: 0 });
});

test('receipts of each user are written apart: a lane that is held up holds up nobody else', async () => {
  const { note, trouble, bobs, counts, found, receipts } = await bench();
  const free = Promise.withResolvers<void>();
  trouble.bobs = () => free.promise;
  const [late, soon] = [note({ lane: bobs }), note()];
  await expect.poll(() => counts.written).toBe(1);
  expect([await found(late), (await found(soon))?.id]).toEqual([null, soon]);
  free.resolve();
  await receipts.close();
  expect([(await found(late))?.id, counts]).toEqual([late, { written: 2, omitted: 0, lost: 0 }]);
});

test('a lane that fails for good loses its own receipts alone', async () => {
  const { note, trouble, bobs, counts, found, receipts } = await bench(60_000);
  trouble.bobs = () => Promise.reject(new EngineError('no', { code: 'internal', retryable: false }));
  const ids = [note(), note({ lane: bobs }), note(), note({ lane: bobs })];
  await receipts.close();
  expect(counts).toEqual({ written: 2, omitted: 0, lost: 2 });
  expect((await Promise.all(ids.map(found))).map((one) => one?.id ?? null)).toEqual([ids[0], null, ids[2], null]);
});

test('a lane that cannot be written when the process stops loses its own receipts alone, however many', async () => {
  const { note, trouble, bobs, counts, receipts } = await bench(60_000);
  trouble.bobs = () => Promise.reject(AWAY);
  for (let i = 0; i < 150; i += 1) note({ lane: bobs });
  note();
  await receipts.close();
  expect(counts).toEqual({ written: 1, omitted: 0, lost: 150 });
});

test('answers above the rate have no receipt, and are counted', async () => {
  const { note, tools, counts, receipts } = await bench();
  const notes = (count: number) => Array.from({ length: count }, () => note()).filter((id) => id !== null).length;
  expect(notes(AT_ONCE + 5)).toBe(AT_ONCE);
  tools.advance(-60_000);
  expect(notes(1)).toBe(0);
  tools.advance(2_000);
  expect(notes(1_000)).toBe(2 * PER_SECOND);
  expect(counts.omitted).toBe(5 + 1 + 1_000 - 2 * PER_SECOND);
  tools.advance(3_600_000);
  expect(notes(1_000)).toBe(AT_ONCE);
  await receipts.close();
});

test('what waits for the ledger is short already: nothing of the request is held until then', async () => {
  const { note, found, receipts } = await bench(60_000);
  const request = { reads: 0 };
  const filters = {
    get place() {
      request.reads += 1;
      return 'x'.repeat(1_000);
    },
  };
  const id = note({ question: 'y'.repeat(20_000), filters });
  const { reads } = request;
  expect(reads).toBeGreaterThan(0);
  await receipts.close();
  expect([request.reads, (await found(id))?.filters]).toEqual([reads, null]);
});

test('a question is kept short and without secrets and personal data, filters only if they are short', async () => {
  const { note, found, receipts } = await bench();
  const noted = [
    note({ question: 'Is my password: hunter2 ? Write to ann@example.com' }),
    note({ question: `${'x'.repeat(119)}\u{1F600}${'y'.repeat(30_000)}` }),
    note({ question: null, filters: { metadata: { mail: 'ann@example.com' } } }),
    note({ filters: { metadata: { place: 'x'.repeat(200) } } }),
  ];
  await receipts.close();
  const kept = await Promise.all(noted.map(found));
  expect(kept[0]?.question).toBe('Is my password: [secret: password] ? Write to [email]');
  expect(kept[1]?.question).toBe(`${'x'.repeat(119)}…`);
  expect(kept.slice(2).map((receipt) => [receipt?.question, receipt?.filters])).toEqual([
    [null, { metadata: { mail: '[email]' } }],
    ['Where?', null],
  ]);
});

test('what the ledger never takes is lost, counted and said', async () => {
  const { note, trouble, counts, log, receipts } = await bench(60_000);
  note();
  trouble.now = new EngineError('no such table', { code: 'internal', retryable: false });
  await receipts.close();
  expect(counts).toEqual({ written: 0, omitted: 0, lost: 1 });
  expect(log.lines).toMatchObject([{ level: 'error', message: 'receipts are lost' }]);
});
