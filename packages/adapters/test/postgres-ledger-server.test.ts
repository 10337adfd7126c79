import { DEFAULT_TENANT, EngineError, type Ledger } from '@slowwave/engine';
import { added, expectConserved, home, newBatch, recordingLog, retracted, scope } from '@slowwave/engine-testing';
import { freePort } from '@slowwave/testkit';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { newestOf } from '../src/ledger/schema.ts';
import { openPool, openPostgresLedger } from '../src/postgres/index.ts';
import { COLUMN_TYPES } from '../src/postgres/ledger/asking.ts';
import { MIGRATIONS, migrate, SCHEMA } from '../src/postgres/ledger/migrate.ts';
import { systemTools } from '../src/system/system.ts';
import { ledgerServer } from './postgres-ledger-fixture.ts';

const NEWEST = newestOf(MIGRATIONS);

const POLICY = { tokens: 1_000, idleMs: 0, maxAgeMs: 600_000 };
const PATIENCE = { timeout: 60_000, interval: 100 };

const shared = await ledgerServer();
afterAll(shared.stop);

const append = (ledger: Ledger) => ledger.batches.append(newBatch(systemTools), POLICY);
const openAt = (url: string) => openPostgresLedger({ url, tools: systemTools, log: recordingLog() });
const changed = (parts: Partial<Record<'port' | 'password' | 'pathname', string>>): string =>
  Object.assign(new URL(shared.url), parts).href;

/** The failure of opening a ledger, as an operator reads it. */
async function refusalOf(url: string): Promise<EngineError> {
  const failure = await openAt(url).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(EngineError);
  expect(String(failure)).not.toContain(shared.server.password);
  return failure as EngineError;
}

/** Runs the migrations of a release that has more of them, from three processes at the same moment. */
async function migrateAll(url: string, more: readonly string[]): Promise<void> {
  const log = recordingLog();
  const pool = openPool({ url, schema: SCHEMA, max: 3, log, types: COLUMN_TYPES });
  const from = async (place: number): Promise<void> => {
    const client = await pool.connect();
    try {
      await migrate(client, { newLedgerId: `led_from_${place}`, log, migrations: [...MIGRATIONS, ...more] });
    } finally {
      client.release();
    }
  };
  const ended = await Promise.allSettled([1, 2, 3].map(from));
  await pool.end();
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

/** More than a statement could have parameters for, were there some for each. */
const MANY = 6_000;

it('takes back what was said of very many memories at once', async () => {
  const ledger = await openAt(await shared.newDatabase());
  const write = (changes: Parameters<Ledger['memories']['write']>[1]['changes']) =>
    ledger.memories.write(DEFAULT_TENANT, { changes, tombstones: [], now: 1 });
  const lane = await ledger.memories.laneOf(DEFAULT_TENANT, { kind: 'user', id: 'ann' }, 1);
  const at = home(lane, { scope: scope({ userId: 'ann', agentId: 'bot', runId: 'r1', appId: 'web' }) });
  const born = Array.from({ length: MANY }, (_, i) => added(systemTools, at, { text: `Fact ${i}` }));
  expect(await write(born)).toEqual({ kind: 'written' });
  const [first = ''] = born.map(({ memory }) => memory.id);
  expect(await ledger.saidIds.of(DEFAULT_TENANT, first)).toHaveLength(3);
  const undone = born.map(({ memory }) => retracted(systemTools, memory, { retracts: [1] }));
  expect(await write(undone)).toEqual({ kind: 'written' });
  expect((await ledger.memories.get(DEFAULT_TENANT, first))?.versions).toEqual([]);
  expect(await ledger.saidIds.of(DEFAULT_TENANT, first)).toEqual([]);
  await ledger.close();
});

describe('the schema', () => {
  it('is made once, by several processes that start at the same moment', async () => {
    const url = await shared.newDatabase();
    const ledgers = await Promise.all([1, 2, 3, 4, 5].map(() => openAt(url)));
    expect(new Set(ledgers.map(({ id }) => id)).size).toBe(1);
    await Promise.all(ledgers.map((ledger) => ledger.check()));
    await Promise.all(ledgers.map(append));
    const tables = await shared.sql("SELECT count(*)::int AS found FROM pg_tables WHERE schemaname = 'public'", url);
    expect(tables).toEqual([{ found: 0 }]);
    await Promise.all(ledgers.map((ledger) => ledger.close()));
  });

  it('of the next release is worked on, and left as it is', async () => {
    const url = await shared.newDatabase();
    const first = await openAt(url);
    const next = String(NEWEST + 1);
    await shared.sql('ALTER TABLE slowwave.lanes ADD COLUMN later text', url);
    await shared.sql(`UPDATE slowwave.meta SET value = '${next}' WHERE key = 'schema'`, url);
    await append(first);
    const second = await openAt(url);
    await append(second);
    await expectConserved(second, DEFAULT_TENANT);
    await Promise.all([first.close(), second.close()]);
    expect(await shared.sql("SELECT value FROM slowwave.meta WHERE key = 'schema'", url)).toEqual([{ value: next }]);
  });

  it('of a release after the next is refused with advice', async () => {
    const url = await shared.newDatabase();
    await (await openAt(url)).close();
    await shared.sql(`UPDATE slowwave.meta SET value = '${NEWEST + 2}' WHERE key = 'schema'`, url);
    const refusal = await refusalOf(url);
    expect(refusal.message).toMatch(/schema \d+.*start that release, or restore a backup/s);
    expect(refusal.retryable).toBe(false);
  });

  it.each(['1', '22', '99'])('of a pre-release (%s) is refused with advice, and left as it is', async (schema) => {
    const url = await shared.newDatabase();
    await (await openAt(url)).close();
    await shared.sql(`UPDATE slowwave.meta SET value = '${schema}' WHERE key = 'schema'`, url);
    const refusal = await refusalOf(url);
    expect(refusal.message).toMatch(
      /has schema \d+, .*a pre-release created it; read it with that checkout.*empty data folder/,
    );
    expect(refusal.retryable).toBe(false);
    expect(await shared.sql("SELECT value FROM slowwave.meta WHERE key = 'schema'", url)).toEqual([{ value: schema }]);
  });

  it('of a release before is brought up to date, once, by several processes that start at the same moment', async () => {
    const url = await shared.newDatabase();
    const ledger = await openAt(url);
    await append(ledger);
    await migrateAll(url, ["ALTER TABLE lanes ADD COLUMN later text NOT NULL DEFAULT 'so'"]);
    expect(await shared.sql('SELECT later FROM slowwave.lanes', url)).toEqual([{ later: 'so' }]);
    expect(await shared.sql('SELECT key, value FROM slowwave.meta ORDER BY key', url)).toEqual([
      { key: 'ledger_id', value: ledger.id },
      { key: 'schema', value: String(NEWEST + 1) },
    ]);
    await append(ledger);
    await ledger.close();
  });

  it('of a new ledger is made by all there are', async () => {
    const url = await shared.newDatabase();
    await migrateAll(url, ['ALTER TABLE lanes ADD COLUMN later text']);
    expect(await shared.sql("SELECT value FROM slowwave.meta WHERE key = 'schema'", url)).toEqual([
      { value: String(NEWEST + 1) },
    ]);
    const ledger = await openAt(url);
    expect(ledger.id).toMatch(/^led_from_/);
    await ledger.close();
  });

  it('stays as it was when a migration fails', async () => {
    const url = await shared.newDatabase();
    const ledger = await openAt(url);
    const broken = ['ALTER TABLE lanes ADD COLUMN later text', 'ALTER TABLE nowhere ADD COLUMN later text'];
    await expect(migrateAll(url, broken)).rejects.toThrow('nowhere');
    expect(await shared.sql("SELECT value FROM slowwave.meta WHERE key = 'schema'", url)).toEqual([
      { value: String(NEWEST) },
    ]);
    await append(ledger);
    await ledger.close();
  });

  it('that changes under a running process does not disturb it', async () => {
    const ledger = await shared.open();
    await append(ledger);
    const before = await ledger.overview.owners(DEFAULT_TENANT, { limit: 10, cursor: null });
    await shared.sql(
      'ALTER TABLE slowwave.lanes ADD COLUMN later text; ALTER TABLE slowwave.batches ADD COLUMN later text',
    );
    await append(ledger);
    expect((await ledger.overview.owners(DEFAULT_TENANT, { limit: 10, cursor: null })).results).toHaveLength(
      before.results.length,
    );
    await shared.sql('ALTER TABLE slowwave.lanes DROP COLUMN later; ALTER TABLE slowwave.batches DROP COLUMN later');
    await append(ledger);
    await expectConserved(ledger, DEFAULT_TENANT);
  });
});

describe('a connection', () => {
  it('waits for the disk at every commit, whatever the database says by default', async () => {
    const url = await shared.newDatabase();
    const name = new URL(url).pathname.slice(1);
    await shared.sql(`ALTER DATABASE ${name} SET synchronous_commit = off`);
    const given = new URL(url);
    given.searchParams.set('options', '-c synchronous_commit=off -c work_mem=8MB');
    const pool = openPool({ url: given.href, schema: 'slowwave', max: 1, log: recordingLog() });
    const { rows } = await pool.query(
      "SELECT current_setting('synchronous_commit') AS commit, current_setting('work_mem') AS mem",
    );
    expect(rows).toEqual([{ commit: 'on', mem: '8MB' }]);
    await pool.end();
  });

  it('to a server that does not sync is warned of', async () => {
    await shared.open();
    expect(shared.log.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', message: expect.stringContaining('fsync off') }),
    );
  });
});

describe('a database that cannot be used', () => {
  it('because nobody listens is named without its password', async () => {
    const port = await freePort();
    const refusal = await refusalOf(changed({ port: String(port) }));
    expect(refusal).toMatchObject({ code: 'ledger_unavailable', retryable: true });
    expect(refusal.message).toContain(`postgres://127.0.0.1:${port}/`);
    expect(refusal.message).toContain('ECONNREFUSED');
  });

  it('because the password is wrong says so', async () => {
    const refusal = await refusalOf(changed({ password: 'wr0ng' }));
    expect(refusal).toMatchObject({ code: 'ledger_unavailable', retryable: false });
    expect(refusal.message).toMatch(/password authentication failed.*DATABASE_URL/s);
    expect(refusal.message).not.toContain('wr0ng');
  });

  it('because it does not exist says so', async () => {
    const refusal = await refusalOf(changed({ pathname: '/nowhere' }));
    expect(refusal).toMatchObject({ code: 'ledger_unavailable', retryable: false });
    expect(refusal.message).toContain('nowhere');
  });

  it.each(['localhost:5432', 'mysql://localhost/db', ''])(
    'because "%s" is no database URL says what one looks like',
    async (url) => {
      await expect(openAt(url)).rejects.toThrow(/postgres:\/\/user:password@host:5432\/database/);
    },
  );
});

describe('a server that goes away', () => {
  it('in the middle of transactions leaves each batch stored once or not at all', async () => {
    const ledger = await shared.open();
    const batches = Array.from({ length: 300 }, () => newBatch(systemTools));
    let answered = 0;
    // Ten at a time, one after the other, so that a cut meets ten at most.
    const posting = Promise.all(
      Array.from({ length: 10 }, async (_, line) => {
        const answers: PromiseSettledResult<unknown>[] = [];
        for (const batch of batches.slice(line * 30, (line + 1) * 30)) {
          answers.push(...(await Promise.allSettled([ledger.batches.append(batch, POLICY)])));
          answered += 1;
        }
        return answers;
      }),
    );
    for (let cut = 1; cut <= 5; cut += 1) {
      await vi.waitFor(() => expect(answered).toBeGreaterThan(cut * 40), PATIENCE);
      await shared.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'slowwave'");
    }
    const answers = (await posting).flat();
    // Only a connection that broke during its commit leaves a question open.
    expect(answers.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(200);
    const found = await Promise.all(batches.map(({ id }) => ledger.batches.get(DEFAULT_TENANT, id)));
    for (const [i, answer] of answers.entries()) {
      if (answer.status === 'fulfilled') expect(found[i]?.state).toBe('pending');
      else expect(answer.reason).toMatchObject({ code: 'ledger_unavailable', retryable: true });
    }
    const positions = found.flatMap((batch) => (batch === null ? [] : [batch.position]));
    expect(new Set(positions).size).toBe(positions.length);
    await expectConserved(ledger, DEFAULT_TENANT);
  });

  it('is told as an outage worth another try, and found again when it is back', async () => {
    const ledger = await shared.open();
    await append(ledger);
    const { accepted } = await ledger.overview.batches(DEFAULT_TENANT);
    await shared.server.halt();
    const calls = [append(ledger), ledger.check(), ledger.overview.batches(DEFAULT_TENANT)];
    for (const call of await Promise.allSettled(calls)) {
      expect(call).toMatchObject({ status: 'rejected', reason: { code: 'ledger_unavailable', retryable: true } });
      expect(call.status === 'rejected' && String(call.reason)).not.toContain(shared.server.password);
    }
    await shared.server.resume();
    await vi.waitFor(() => ledger.check(), PATIENCE);
    await append(ledger);
    expect((await ledger.overview.batches(DEFAULT_TENANT)).accepted).toBe(accepted + 1);
  });
});
