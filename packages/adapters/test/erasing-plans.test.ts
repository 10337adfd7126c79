import { join } from 'node:path';
import { type TempDir, tempDir } from '@slowwave/testkit';
import Database from 'better-sqlite3';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERASING } from '../src/ledger/erasures.ts';
import { toPostgres, toSqlite } from '../src/ledger/script.ts';
import { openSqliteLedger } from '../src/sqlite/index.ts';
import { systemTools } from '../src/system/system.ts';
import { type LedgerServer, ledgerServer } from './postgres-ledger-fixture.ts';

/** Every statement of an erasure, as one of the dialects has it. */
const statements = (inDialect: (text: string) => string): string[] =>
  ERASING.flatMap(({ pick, changes = [], deletes }) => [
    pick,
    ...changes,
    ...deletes.map(([table, condition]) => `DELETE FROM ${table} WHERE ${condition}`),
  ]).map(inDialect);

interface ForeignKey {
  readonly table: string;
  readonly columns: string;
}

/** Keys without an index that begins with their columns: whoever deletes what they refer to reads the whole table. */
const without = (keys: readonly ForeignKey[], indexes: readonly ForeignKey[]): string[] =>
  keys
    .filter(
      ({ table, columns }) =>
        !indexes.some((one) => one.table === table && `${one.columns},`.startsWith(`${columns},`)),
    )
    .map(({ table, columns }) => `${table} (${columns})`);

describe('an erasure in SQLite costs what it touches', () => {
  let folder: TempDir;
  let db: InstanceType<typeof Database>;

  beforeAll(async () => {
    folder = await tempDir();
    const path = join(folder.path, 'ledger.db');
    await (await openSqliteLedger({ path, tools: systemTools })).close();
    db = new Database(path);
  });
  afterAll(async () => {
    db.close();
    await folder.remove();
  });

  it('with an index for every foreign key', () => {
    const keys = db.prepare<[], ForeignKey>(`
      SELECT t.name AS "table", f."from" AS columns FROM sqlite_schema t, pragma_foreign_key_list(t.name) f
      WHERE t.type = 'table'`);
    const indexes = db.prepare<[], ForeignKey>(`
      SELECT t.name AS "table", (SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno)) AS columns
      FROM sqlite_schema t, pragma_index_list(t.name) i LEFT JOIN sqlite_schema x ON x.name = i.name
      WHERE t.type = 'table' AND (i.partial = 0 OR x.sql LIKE '% IS NOT NULL')
      UNION ALL
      SELECT t.name, (SELECT group_concat(name) FROM (SELECT name FROM pragma_table_info(t.name) WHERE pk > 0 ORDER BY pk))
      FROM sqlite_schema t WHERE t.type = 'table'`);
    expect(keys.all().length).toBeGreaterThan(20);
    expect(without(keys.all(), indexes.all())).toEqual([]);
  });

  it('without reading a table from end to end, or sorting what is left of it', () => {
    for (const text of statements(toSqlite)) {
      const plan = db.prepare<[object], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`);
      const params = { lane: 'l', limit: 50, ids: '[]' };
      const details = plan.all(params).map(({ detail }) => detail);
      // The days of which there are uses are a list made of one look for each.
      const bad = details.filter((detail) => /^SCAN (?!json_each|days$)|TEMP B-TREE FOR ORDER/.test(detail));
      expect(bad, text).toEqual([]);
    }
  });
});

describe('an erasure in PostgreSQL costs what it touches', () => {
  let shared: LedgerServer;
  let client: Client | null = null;

  beforeAll(async () => {
    shared = await ledgerServer();
    await shared.open();
  });
  afterAll(async () => {
    await client?.end();
    await shared.stop();
  });

  const rows = async (text: string): Promise<ForeignKey[]> => (await shared.sql(text)) as unknown as ForeignKey[];

  it('with an index for every foreign key', async () => {
    const names = (of: string) => `(SELECT string_agg(a.attname, ',' ORDER BY k.n)
      FROM unnest(${of}) WITH ORDINALITY k (num, n) JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num)`;
    const keys = await rows(`
      SELECT c.relname AS "table", ${names('f.conkey')} AS columns
      FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_namespace s ON s.oid = c.relnamespace
      WHERE f.contype = 'f' AND s.nspname = 'slowwave'`);
    const indexes = await rows(`
      SELECT c.relname AS "table", ${names('i.indkey::int2[]')} AS columns
      FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace s ON s.oid = c.relnamespace
      WHERE s.nspname = 'slowwave' AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) LIKE '% IS NOT NULL)')`);
    expect(keys.length).toBeGreaterThan(20);
    expect(without(keys, indexes)).toEqual([]);
  });

  it('without reading a table from end to end, or sorting what is left of it', async () => {
    const literals = (text: string): string =>
      text.replaceAll('@lane', "'l'").replaceAll('@limit', '50').replaceAll('@ids', "'{}'");
    // A table without rows is cheapest read whole: what matters is whether there is another way.
    const options = '-c search_path=slowwave -c enable_seqscan=off';
    client = new Client({ connectionString: shared.url, options });
    await client.connect();
    for (const text of statements(toPostgres).map(literals)) {
      const { rows: plan } = await client.query<Record<string, unknown>>(`EXPLAIN ${text}`);
      const lines = plan.map((row) => String(row['QUERY PLAN'] ?? ''));
      expect(lines.length, text).toBeGreaterThan(0);
      expect(
        lines.filter((line) => /Seq Scan|Sort/.test(line)),
        text,
      ).toEqual([]);
    }
  });
});
