import { DEFAULT_TENANT, EngineError, InvalidCursorError } from '@slowwave/engine';
import { newBatch, user } from '@slowwave/engine-testing';
import { afterEach, expect, test } from 'vitest';
import { openReader, type Reader } from '../src/sqlite/ledger/open.ts';
import { startThread, systemTools, type Thread } from '../src/system/system.ts';
import { ledgerFile } from './sqlite-ledger-fixture.ts';

const DYING = new URL('./dying-thread.ts', import.meta.url);
const POLICY = { tokens: 1_000, idleMs: 60_000, maxAgeMs: 600_000 };

const closing: Pick<Reader, 'close'>[] = [];
afterEach(async () => {
  for (const one of closing.splice(0)) await one.close();
});

function reading(start = () => startThread(DYING, null)): Reader {
  const reader = openReader(start);
  closing.push(reader);
  return reader;
}

test('a reader that dies fails the calls it had, as an outage worth another try, and is there for the next', async () => {
  const threads: Thread[] = [];
  const reader = reading(async () => {
    const thread = await startThread(DYING, null);
    threads.push(thread);
    return thread;
  });
  expect(await reader.read('ask', null)).toBe(1);
  const died = await Promise.all([reader.read('die', null), reader.read('ask', null)]).catch((error: unknown) => error);
  expect(died).toMatchObject({ code: 'ledger_unavailable', retryable: true, countsAsTry: false });
  await threads[0]?.gone;
  expect(await reader.read('ask', null)).toBe(1);
});

test('a reader that could not be started is started at the next call', async () => {
  let broken = true;
  const reader = reading(async () => {
    if (broken) throw new Error('too many threads');
    return startThread(DYING, null);
  });
  await expect(reader.read('ask', null)).rejects.toMatchObject({ code: 'ledger_unavailable', retryable: true });
  broken = false;
  expect(await reader.read('ask', null)).toBe(1);
});

test('a reader that is closed answers what it was asked, and nothing more', async () => {
  const reader = reading();
  const asked = reader.read('ask', null);
  await reader.close();
  expect(await asked).toBe(1);
  await expect(reader.read('ask', null)).rejects.toThrow(EngineError);
});

test('who has awaited a write reads it, whichever thread reads', async () => {
  const file = await ledgerFile();
  closing.push({ close: file.remove });
  const ledger = await file.open();
  for (let i = 0; i < 50; i += 1) {
    const batch = newBatch(systemTools);
    await ledger.batches.append(batch, POLICY);
    const [read, lane] = await Promise.all([
      ledger.batches.get(DEFAULT_TENANT, batch.id),
      ledger.lanes.find(DEFAULT_TENANT, user('ann')),
    ]);
    expect([read?.id, lane?.pending]).toEqual([batch.id, i + 1]);
  }
  await expect(ledger.batches.list(DEFAULT_TENANT, {}, { limit: 1, cursor: 'nonsense' })).rejects.toThrow(
    InvalidCursorError,
  );
});
