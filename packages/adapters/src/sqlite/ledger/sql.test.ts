import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { markedOf, plannedOnce, sqlOf } from './sql.ts';

const db = new Database(':memory:');

test('the planner sees no bare value', () => {
  expect(plannedOnce('SELECT ? WHERE id = @id LIMIT @limit')).toBe(
    'SELECT ? COLLATE BINARY WHERE id = @id COLLATE BINARY LIMIT @limit COLLATE BINARY',
  );
});

test('what looks like a value in a text stays as it is', () => {
  const { marked, names } = markedOf(`SELECT '?@lane' || @lane AS "lane"`);
  expect(names).toEqual(['lane']);
  expect(sqlOf(db).kept(marked).all(['ana'])).toEqual([{ lane: '?@laneana' }]);
});
