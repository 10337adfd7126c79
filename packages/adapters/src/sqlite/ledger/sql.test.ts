import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { markedOf, plannedOnce, sqlOf } from './sql.ts';

const db = new Database(':memory:');

test('the planner sees no bare value', () => {
  expect(plannedOnce('SELECT ? WHERE id = @id LIMIT @limit')).toBe(
    'SELECT ? COLLATE BINARY WHERE id = @id COLLATE BINARY LIMIT @limit COLLATE BINARY',
  );
});

test('a statement is planned once, however often it runs', () => {
  const sql = sqlOf(new Database(':memory:'));
  sql.db.exec(SAMPLED);
  let calls = 0;
  sql.db.function('asked', { deterministic: true }, (value) => {
    calls += 1;
    return value;
  });
  const callsOf = (ask: typeof sql.all): number => {
    calls = 0;
    for (let run = 1; run <= RUNS; run += 1) ask(PLANNED, { b: run, limit: run });
    return calls;
  };
  expect(callsOf(sql.all)).toBe(RUNS + 1);
  expect(callsOf(sql.all)).toBe(RUNS);
  expect(callsOf(sql.once), 'what is not kept is planned for each run').toBeGreaterThanOrEqual(2 * RUNS);
});

const RUNS = 5;

/** With samples of an index, SQLite calls a function of a constant for each plan, beside once for each run. */
const PLANNED = 'SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM sampled WHERE a = asked(3)) AND b = @b LIMIT @limit';
const SAMPLED = `
  CREATE TABLE sampled (a INTEGER); CREATE INDEX sampled_by_a ON sampled (a);
  INSERT INTO sampled WITH RECURSIVE n (a) AS (VALUES (1) UNION ALL SELECT a + 1 FROM n WHERE a < 100) SELECT a % 7 FROM n;
  ANALYZE;
  CREATE TABLE t (b INTEGER); CREATE INDEX t_by_b ON t (b);`;

test('what looks like a value in a text stays as it is', () => {
  const { marked, names } = markedOf(`SELECT '?@lane' || @lane AS "lane"`);
  expect(names).toEqual(['lane']);
  expect(sqlOf(db).kept(marked).all(['ana'])).toEqual([{ lane: '?@laneana' }]);
});
