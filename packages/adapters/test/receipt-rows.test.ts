import { kept, type Ledger, type NewReceipt, ownerBitsOfLane, type Told } from '@slowwave/engine';
import { seeded, user } from '@slowwave/engine-testing';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { systemTools as tools } from '../src/system/system.ts';
import { ledgerServer } from './postgres-ledger-fixture.ts';
import { ledgerFile } from './sqlite-ledger-fixture.ts';

/** What docs/receipts.md promises of every row. */
const ROW_BYTES = 400;
const TENANT = 'default' as NewReceipt['tenant'];
const SCRIPTS = ['Wo wohnt Ann denn jetzt? ', '她现在住在哪里？', '\u{1F600}', 'it\'s "quoted" '];

/** Receipts of random answers: from nothing to more than any answer tells, with questions and filters of any length and script. */
async function appendRandom(ledger: Ledger): Promise<readonly NewReceipt[]> {
  const random = seeded(20_261_123);
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  const lane = await ledger.memories.laneOf(TENANT, user('ann'), tools.now());
  const bits = ownerBitsOfLane(lane);
  const words = (): string => (SCRIPTS[upTo(SCRIPTS.length - 1)] ?? '').repeat(upTo(40));
  const one = (messages: boolean): Told =>
    messages || upTo(2) === 0
      ? { kind: 'message', id: tools.id('msg', bits) }
      : { kind: 'memory', id: tools.id('mem', bits), version: 1 + upTo(upTo(5) === 0 ? 2_000 : 9) };
  const receipts = Array.from({ length: 150 }, (_, i) =>
    kept<NewReceipt>({
      ...{
        id: tools.id('rcp', bits),
        tenant: TENANT,
        lane,
        at: tools.now(),
        route: 'context',
      },
      scope: { userId: 'ann', agentId: null, runId: null, appId: null },
      ...{ ownApp: false, question: upTo(3) === 0 ? null : words(), asOf: upTo(1) === 0 ? null : tools.now() },
      filters: upTo(1) === 0 ? null : { metadata: { place: words() } },
      ...{
        position: upTo(1_000_000),
        told: Array.from({ length: upTo(i % 10 === 0 ? 500 : 30) }, () => one(i % 3 > 0)),
      },
    }),
  );
  await ledger.receipts.append(receipts);
  for (const receipt of receipts) {
    const found = await ledger.receipts.get(TENANT, receipt.id);
    // None of the memories is there, as after a deletion: no question is kept where one was told.
    const asked = receipt.told.some(({ kind }) => kind === 'memory') ? { question: null, filters: null } : {};
    expect(found).toEqual({ ...receipt, ...asked, outcome: null });
    await ledger.receipts.judge(TENANT, receipt.id, { outcome: 'good', now: tools.now() });
  }
  return receipts;
}

test('no row of a receipt is larger than promised on SQLite, and none loses anything', async () => {
  const file = await ledgerFile();
  const receipts = await appendRandom(await file.open());
  const db = new Database(file.path, { readonly: true });
  const text = "SELECT max(mx_payload) AS largest FROM dbstat WHERE name = 'receipts'";
  const largest = db.prepare(text).pluck().get() as number;
  const rows = db.prepare('SELECT count(*) FROM receipts').pluck().get() as number;
  db.close();
  await file.remove();
  expect(rows).toBeGreaterThan(receipts.length);
  expect(largest).toBeLessThanOrEqual(ROW_BYTES);
  expect(largest).toBeGreaterThan(ROW_BYTES / 2);
});

test('no row of a receipt is larger than promised on PostgreSQL, and none loses anything', async () => {
  const server = await ledgerServer();
  const receipts = await appendRandom(await server.open());
  const [found] = await server.sql(
    'SELECT max(pg_column_size(r.*))::int AS largest, count(*)::int AS rows FROM slowwave.receipts r',
  );
  await server.stop();
  expect(found?.rows).toBeGreaterThan(receipts.length);
  expect(found?.largest).toBeLessThanOrEqual(ROW_BYTES);
  expect(found?.largest).toBeGreaterThan(ROW_BYTES / 2);
});
