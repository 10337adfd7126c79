import { dirname, join } from 'node:path';
import { DEFAULT_TENANT, type LaneId, ownerBitsOf } from '@slowwave/engine';
import { describeLedger, user } from '@slowwave/engine-testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteLedger } from '../src/sqlite/index.ts';
import { addFilterFunctions, connectToRead, plannedOnce } from '../src/sqlite/ledger/sql.ts';
import { systemTools } from '../src/system/system.ts';
import { notedLedger } from './sqlite-noted-ledger.ts';
import { importLines, linesOf } from './travelling.ts';

const opened = await notedLedger();
const planning = connectToRead(opened.path, { readOnlyFile: true });
afterAll(async () => {
  planning.db.close();
  await opened.remove();
});

describeLedger('SQLite', async () => ({
  ledger: await opened.emptied(),
  reopen: opened.reopen,
  close: async () => {},
}));

it('takes owners over that come from elsewhere', async () => {
  const elsewhere = await openSqliteLedger({ path: join(dirname(opened.path), 'elsewhere.db'), tools: systemTools });
  const tenant = DEFAULT_TENANT;
  await elsewhere.memories.laneOf(tenant, user('ana'), systemTools.now());
  const lines = await linesOf(elsewhere, user('ana'));
  await elsewhere.close();
  const ledger = await opened.emptied();
  await importLines(ledger, { owner: user('ana'), lines });
  expect(await linesOf(ledger, user('ana'))).toEqual(lines);
  expect(await ledger.bundles.owners(tenant, null, 1)).toHaveLength(1);
});

it('lays owners to sleep, and wakes them', async () => {
  const ledger = await opened.emptied();
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
  expect(await cold.ofBits(tenant, bits)).toEqual([await cold.get('seg_1')]);
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

/** How SQLite goes about each statement that has run, line by line. */
function plans(): { readonly text: string; readonly detail: string }[] {
  addFilterFunctions(planning.db);
  const ours = [...opened.statements].filter(([text]) => !/^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)/.test(text));
  return ours.flatMap(([text, given]) => {
    const plan = planning.db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${plannedOnce(text)}`);
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

describe('the statements of all these', () => {
  // Its threads tell theirs when they are closed.
  beforeAll(opened.reopen);

  it('none reads a table from end to end, or an index of all its rows', () => {
    const names = (what: string) =>
      new Set(planning.all<{ name: string }>(`SELECT name FROM sqlite_schema WHERE ${what}`).map(({ name }) => name));
    const tables = names("type = 'table'");
    const partial = names("type = 'index' AND sql LIKE '% WHERE %'");
    const whole = plans().filter(({ text, detail }) => {
      const [, name = '', index = ''] = /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(detail) ?? [];
      const table = tablesIn(text, tables).get(name);
      return table !== undefined && !READ_WHOLE.has(table) && !partial.has(index);
    });
    expect(opened.statements.size).toBeGreaterThan(400);
    expect(whole).toEqual([]);
  });

  it('every index is one that one of them takes', () => {
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
});
