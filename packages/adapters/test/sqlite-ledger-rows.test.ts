import { DEFAULT_TENANT, type LaneId, type MemoryChange } from '@slowwave/engine';
import { added, bitsOf, confirmed, fixedTools, home, updated, user } from '@slowwave/engine-testing';
import { tempDir } from '@slowwave/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLane } from '../src/ledger/lanes.ts';
import { writeExplicitly } from '../src/ledger/memories.ts';
import { loadMemories } from '../src/ledger/rows/memory.ts';
import { all, first, insert } from '../src/ledger/script.ts';
import { migrate } from '../src/sqlite/ledger/migrate.ts';
import { connectToWrite, runScript, type Sql } from '../src/sqlite/ledger/sql.ts';

const TIMES = 50;
/** Of a kind. */
const IDS_IN_INDEX = 32;

let folder: Awaited<ReturnType<typeof tempDir>>;
let sql: Sql;
beforeEach(async () => {
  folder = await tempDir();
  sql = connectToWrite(`${folder.path}/ledger.db`);
  migrate(sql, 'led_rows');
});
afterEach(async () => {
  sql.db.close();
  await folder.remove();
});

/** How many rows a change writes. */
function rowsOf(change: MemoryChange, now: number): number {
  const rows = () => sql.db.prepare('SELECT total_changes()').pluck().get() as number;
  const before = rows();
  const write = { changes: [change], tombstones: [], now };
  expect(runScript(sql, writeExplicitly(DEFAULT_TENANT, write))).toEqual({ kind: 'written' });
  return rows() - before;
}

test('a change writes as many rows whatever was said of the memory before', () => {
  const tools = fixedTools();
  const lane = {
    tenant: DEFAULT_TENANT,
    owner: user('ann'),
    newId: tools.id('lane', bitsOf(tools)) as LaneId,
    now: tools.now(),
  };
  const first = added(tools, home(runScript(sql, openLane(lane))));
  rowsOf(first, tools.now());
  let { memory } = first;
  const next = (change: MemoryChange): number => {
    ({ memory } = change);
    tools.advance(1_000);
    return rowsOf(change, tools.now());
  };
  const said = (i: number) => next(updated(tools, memory, { text: `Has ${i} cats` }));
  const again = () => next(confirmed(tools, memory));
  const updates = Array.from({ length: TIMES }, (_, i) => said(i));
  const confirmations = Array.from({ length: TIMES }, again);
  // In conversations of their own: an id more each time, of which one more is beyond what the index has.
  const inRun = (i: number) => ({ under: { agentId: null, runId: `r${i}`, appId: null } });
  const elsewhere = Array.from({ length: TIMES }, (_, i) => next(confirmed(tools, memory, inRun(i))));
  expect(new Set(updates).size).toBe(1);
  expect(new Set(confirmations).size).toBe(1);
  expect(new Set(elsewhere.slice(IDS_IN_INDEX)).size).toBe(1);
  expect(Math.max(...elsewhere) - (confirmations[0] ?? 0)).toBe(2);
  const [found] = runScript(sql, loadMemories('WHERE m.id = @id', { id: memory.id }));
  expect(found).toEqual(memory);
});

test('a value stands wherever its statement names it, lists too, whichever statement ran before', () => {
  const joined = (given: Record<string, string>) => runScript(sql, first("SELECT @b || @a || @b || '@a' AS it", given));
  expect(joined({ a: 'x', b: 'y' })).toEqual({ it: 'yxy@a' });
  expect(joined({ b: 'v', a: 'u' })).toEqual({ it: 'vuv@a' });
  const within = 'SELECT value AS it FROM json_each(@from) WHERE value IN :ids AND value IN :ids ORDER BY it';
  const given = { ids: ['b', 'c'], from: JSON.stringify(['a', 'b', 'c']) };
  expect(runScript(sql, all(within, given))).toEqual([{ it: 'b' }, { it: 'c' }]);
});

test('a statement that is not given what it names is refused, not run with nothing', () => {
  expect(() => runScript(sql, first('SELECT @name AS it', { nam: 'x' }))).toThrow(/needs a parameter named name/);
});

test('rows are written by the names of their columns, in whatever order each has them', () => {
  const rows = [
    { key: 'a', value: '1' },
    { value: '2', key: 'b' },
  ];
  expect(runScript(sql, insert('meta', rows))).toBe(2);
  expect(runScript(sql, all("SELECT key, value FROM meta WHERE key IN ('a', 'b') ORDER BY key"))).toEqual([
    { key: 'a', value: '1' },
    { key: 'b', value: '2' },
  ]);
});
