import { join } from 'node:path';
import { DEFAULT_TENANT, type LaneId, ownerBitsOf } from '@slowwave/engine';
import { describeLedger, hashOf, user } from '@slowwave/engine-testing';
import { tempDir } from '@slowwave/testkit';
import { afterAll, expect, it } from 'vitest';
import { type Script, scriptNamed } from '../src/ledger/script.ts';
import { addFilterFunctions } from '../src/sqlite/ledger/filter.ts';
import { migrate } from '../src/sqlite/ledger/migrate.ts';
import { ledgerOf, openReader, openSqliteLedger, type Reader, startReader } from '../src/sqlite/ledger/open.ts';
import { connectToRead, connectToWrite, noSteps, type Sql, snapshotsOf } from '../src/sqlite/ledger/sql.ts';
import { writerOf } from '../src/sqlite/ledger/writer.ts';
import { systemTools } from '../src/system/index.ts';
import type { Thread } from '../src/system/thread.ts';
import { emptyTables } from './sqlite-ledger-fixture.ts';
import { importLines, linesOf } from './travelling.ts';

type Given = Parameters<Sql['run']>[1];

/** Every statement that ran, with what it was given first. */
const statements = new Map<string, Given>();

/** The same connection, which notes what it is asked. */
function noting(sql: Sql): Sql {
  const noted = (text: string, given: Given): void => {
    // A row's values are given in one list, again and again.
    if (!statements.has(text)) statements.set(text, Array.isArray(given) ? [...given] : given);
  };
  const note = <Rest extends readonly unknown[], Result>(run: (text: string, ...rest: Rest) => Result) => {
    return (text: string, ...rest: Rest): Result => {
      noted(text, rest[0] as Given);
      return run(text, ...rest);
    };
  };
  const kept = (text: string) => {
    const statement = sql.kept(text);
    const all = note((_, given: never) => statement.all(given));
    const run = note((_, given: never) => statement.run(given));
    return { all: (given: never) => all(text, given), run: (given: never) => run(text, given) };
  };
  const once = { db: sql.db, get: note(sql.get), all: note(sql.all), once: note(sql.once), run: note(sql.run) };
  return { ...once, kept, steps: noSteps() } as unknown as Sql;
}

/** The writer on this thread, so that its statements are noted, too. */
function onThisThread(sql: Sql, path: string): Thread {
  const host = writerOf(sql, path);
  return {
    call: (method, ...args) =>
      new Promise((answer, fail) => {
        host.receive({ method, args: structuredClone(args), answer: answer as (value: unknown) => void, fail });
      }),
    onNotice: () => {},
    gone: new Promise(() => {}),
    close: async () => host.close(),
  };
}

/** The reader on this thread, too. */
function readingHere(sql: Sql): Reader {
  const read = snapshotsOf(sql);
  return {
    read: async (name, input) =>
      structuredClone(read((scriptNamed(name) as AnyScript)(structuredClone(input)))) as never,
    close: async () => {},
  };
}

type AnyScript = (input: unknown) => Script<unknown>;

const folder = await tempDir();
const path = join(folder.path, 'ledger.db');
const writing = connectToWrite(path);
migrate(writing, 'led_plans');
const planning = connectToRead(path, { readOnlyFile: true });
const here = noting(connectToRead(path, { readOnlyFile: false }));
const ledger = ledgerOf({
  path,
  here,
  reader: readingHere(here),
  auditor: openReader(() => startReader({ path, readOnlyFile: false })),
  writer: onThisThread(noting(writing), path),
  tools: { ...systemTools, hash: hashOf },
});
afterAll(async () => {
  planning.db.close();
  await ledger.close();
  await folder.remove();
});

describeLedger('SQLite, statement by statement,', async () => {
  emptyTables(path);
  return { ledger, reopen: async () => ledger, close: async () => {} };
});

it('takes owners over that come from elsewhere', async () => {
  const elsewhere = await openSqliteLedger({ path: join(folder.path, 'elsewhere.db'), tools: systemTools });
  const tenant = DEFAULT_TENANT;
  await elsewhere.memories.laneOf(tenant, user('ana'), systemTools.now());
  const lines = await linesOf(elsewhere, user('ana'));
  await elsewhere.close();
  emptyTables(path);
  await importLines(ledger, { owner: user('ana'), lines });
  expect(await linesOf(ledger, user('ana'))).toEqual(lines);
  expect(await ledger.bundles.owners(tenant, null, 1)).toHaveLength(1);
});

it('lays owners to sleep, and wakes them', async () => {
  emptyTables(path);
  const { cold } = ledger;
  const [tenant, owner, now] = [DEFAULT_TENANT, user('ana'), systemTools.now()];
  const lane = (await ledger.memories.laneOf(tenant, owner, now)) as LaneId;
  const lines = await linesOf(ledger, owner);
  const standing = await cold.standing(lane);
  if (standing === null) throw new Error('expected an owner at rest');
  const lastSum = JSON.parse(lines.at(-1) ?? '').sum as string;
  const bits = ownerBitsOf(systemTools, { tenant, owner });
  await cold.note({ ...standing, name: 'seg_1', bits, lines: lines.length, lastSum }, now);
  expect(await cold.cool('seg_1', { stamp: standing.stamp, bytes: 1, now })).toBe(true);
  for (let more = true; more; ) ({ more } = await cold.slice('seg_1', 100, now));
  expect(await cold.ofBits(tenant, bits)).toEqual([await cold.find(tenant, owner)]);
  expect([...(await cold.list(tenant, null, 1)), ...(await cold.list(null, null, 1))]).toHaveLength(2);
  expect(await cold.since('cold', now, 1)).toEqual([await cold.get('seg_1')]);
  expect(await cold.count()).toEqual({ owners: 1, bytes: 1, moving: 0 });
  expect(await cold.restore('seg_1', { lines: [], told: [], now })).toBe('not_begun');
  expect(await cold.wake('seg_1', now)).toEqual({ taken: 0, lines: lines.length });
  await ledger.bundles.take('seg_1', 0, lines);
  expect(await cold.woken('seg_1', { told: [], now })).toBe(true);
  expect(await cold.idle(now, null, 1)).toEqual([]);
  expect(await cold.ofLane(lane)).toEqual((await cold.names(null, 1)).map(({ name }) => name));
  await cold.drop('seg_1', now);
  await cold.forget('seg_1', null);
});

/** Read as a whole: what is seldom long, or seldom read. */
const READ_WHOLE = new Set([
  'outbox',
  'unprojected_lanes',
  'graph_turns',
  'sleeps',
  'api_keys',
  'webhooks',
  'settings',
  'economies',
  'closed_slots',
  'away',
]);

/** How SQLite goes about each statement, line by line. */
function plans(): { readonly text: string; readonly detail: string }[] {
  addFilterFunctions(planning.db);
  const ours = [...statements].filter(([text]) => !/^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)/.test(text));
  return ours.flatMap(([text, given]) => {
    const plan = planning.db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`);
    const lines = plan.all(...(given === undefined ? [] : [given]));
    return lines.map(({ detail }) => ({ text, detail }));
  });
}

/** The tables of a statement by the names it has for them. */
function tablesIn(text: string, tables: ReadonlySet<string>): ReadonlyMap<string, string> {
  const named = text.matchAll(
    /\b(?:FROM|JOIN|UPDATE)\s+(\w+)(?:\s+(?:AS\s+)?(?!WHERE|JOIN|LEFT|ORDER|INDEXED|SET)(\w+))?/g,
  );
  const pairs = [...named].filter(([, table = '']) => tables.has(table));
  return new Map(pairs.flatMap(([, table = '', alias = table]) => [[alias, table] as const, [table, table] as const]));
}

it('no statement of them reads a table from end to end, or an index of all its rows', () => {
  const names = (what: string) =>
    new Set(planning.all<{ name: string }>(`SELECT name FROM sqlite_schema WHERE ${what}`).map(({ name }) => name));
  const tables = names("type = 'table'");
  const partial = names("type = 'index' AND sql LIKE '% WHERE %'");
  const whole = plans().filter(({ text, detail }) => {
    const [, name = '', index = ''] = /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(detail) ?? [];
    const table = tablesIn(text, tables).get(name);
    return table !== undefined && !READ_WHOLE.has(table) && !partial.has(index);
  });
  expect(statements.size).toBeGreaterThan(400);
  expect(whole).toEqual([]);
});

it('every index is one that a statement of them takes', () => {
  const taken = new Set(plans().map(({ detail }) => / INDEX (\w+)/.exec(detail)?.[1]));
  const made = planning.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
  );
  expect(made.map(({ name }) => name).filter((name) => !taken.has(name))).toEqual([]);
});

it('whoever was active last is read from the end of an index, a page at a time', () => {
  const pages = plans().filter(
    ({ text }) => text.includes('ORDER BY l.updated_at DESC') && !text.includes('@idPrefix'),
  );
  expect(pages.map(({ detail }) => detail).join('\n')).toContain('lanes_by_activity (tenant=?');
  // Those of one moment are sorted by their ids.
  expect(pages.filter(({ detail }) => / TEMP B-TREE FOR (?!LAST TERM)/.test(detail))).toEqual([]);
});

it('what is named by its ids is found by them, not in all of a tenant or lane', () => {
  const byText = Map.groupBy(plans(), ({ text }) => text);
  const wrong = [...byText].filter(([text, lines]) => {
    const [found, table = '\\w+'] = /(?:\b(\w+)\.)?\bid IN \(SELECT value FROM json_each/.exec(text) ?? [];
    const byId = new RegExp(`^SEARCH ${table} USING .*\\b(?:row)?id=\\?`);
    return found !== undefined && !lines.some(({ detail }) => byId.test(detail));
  });
  expect(wrong.map(([text]) => text)).toEqual([]);
});
