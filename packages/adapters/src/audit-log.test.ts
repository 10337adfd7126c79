import { EngineError, type NewTrailEntry, ownerHashOf, type TenantId } from '@slowwave/engine';
import { createMemoryLedger, fixedTools, recordingLog } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { auditLog, WAITING_MAX } from './audit-and-receipts.ts';

const TENANT = 'acme' as TenantId;
const ALL = { limit: 200, cursor: null };
const AWAY = new EngineError('the disk is full', { code: 'ledger_unavailable', retryable: true });
const BROKEN = new EngineError('no such table', { code: 'internal', retryable: false });

function bench(gatherMs = 1) {
  const tools = fixedTools();
  const ledger = createMemoryLedger({ tools });
  const log = recordingLog();
  const counts = { written: 0, lost: 0 };
  const appended: number[] = [];
  const trouble: { now: Error | null } = { now: null };
  const append = async (entries: readonly NewTrailEntry[]) => {
    if (trouble.now !== null) throw trouble.now;
    appended.push(entries.length);
    await ledger.trail.append(entries);
  };
  const audit = auditLog({
    ...{ what: 'changes', tools, log, gatherMs },
    ledger: { id: ledger.id, trail: { append } },
    counted: (outcome, count) => {
      counts[outcome] += count;
    },
  });
  const record = (subject: NewTrailEntry['subject'] = null, tookMs = 0) =>
    audit.record({
      ...{ tenant: TENANT, by: 'key_1', session: false, action: 'POST /v1/batches', subject },
      ...{ status: 202, code: null, requestId: 'r', tookMs },
    });
  const entries = async () => (await ledger.trail.list(TENANT, {}, ALL)).results;
  return { tools, ledger, log, counts, appended, trouble, audit, record, entries };
}

test('entries are written together, beside requests, with the time at which these came', async () => {
  const { record, entries, appended, counts, tools, audit } = bench();
  for (let i = 0; i < 150; i += 1) record(null, 250.4);
  expect(await entries()).toEqual([]);
  await expect.poll(() => counts.written).toBe(150);
  expect(appended).toEqual([100, 50]);
  expect((await entries())[0]).toMatchObject({ at: tools.now() - 250, by: 'key_1', status: 202 });
  await audit.close();
});

test('what waits is written when the process stops', async () => {
  const { record, entries, audit } = bench(60_000);
  record();
  await audit.close();
  expect(await entries()).toHaveLength(1);
});

test('an owner carries what an erasure knows it by, a thing does not', async () => {
  const { record, ledger, tools, entries, audit } = bench(60_000);
  const owner = { kind: 'user', id: 'ann' } as const;
  record(owner);
  record({ kind: 'memory', id: 'mem_1' });
  const ownerHash = ownerHashOf(tools, { ledgerId: ledger.id, tenant: TENANT, owner });
  await ledger.erasures.request(TENANT, owner, { id: 'ers_1', ownerHash, now: tools.now() });
  await audit.close();
  expect((await entries()).map(({ subject }) => subject?.id).sort()).toEqual(['ers_1', 'mem_1']);
});

test('a ledger that is away is waited for, and said once', async () => {
  const { record, trouble, log, counts, audit, entries } = bench();
  trouble.now = AWAY;
  record();
  await expect.poll(() => log.lines).toHaveLength(1);
  record();
  trouble.now = null;
  await expect.poll(() => counts).toEqual({ written: 2, lost: 0 });
  expect(log.lines).toMatchObject([{ level: 'error', message: 'the audit log is waiting for the ledger' }]);
  await audit.close();
  expect(await entries()).toHaveLength(2);
});

test('what cannot be written is lost, counted and said, and nothing is thrown', async () => {
  const { record, trouble, counts, log, audit } = bench(60_000);
  for (let i = 0; i < WAITING_MAX + 5; i += 1) record();
  expect(counts.lost).toBe(5);
  trouble.now = BROKEN;
  await audit.close();
  expect(counts).toEqual({ written: 0, lost: WAITING_MAX + 5 });
  expect(log.lines).toMatchObject([{ level: 'error', message: 'audit log entries are lost' }]);
  trouble.now = AWAY;
  record();
  await audit.close();
  expect(counts.lost).toBe(WAITING_MAX + 6);
});
