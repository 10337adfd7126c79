import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { asLedgerError } from '../postgres/ledger/errors.ts';
import { sharesOf } from './stores.ts';

test('no process holds more connections than it may, and no part of it is left without', () => {
  for (let connections = 12; connections <= 1_000; connections += 1) {
    for (const indexes of [0, 1, 2] as const) {
      const { ledger, queue, limits, index } = sharesOf(connections, { queue: true, indexes });
      expect(ledger + queue + limits + index * indexes).toBe(connections);
      expect(ledger).toBeGreaterThanOrEqual(indexes === 0 ? 2 : 1);
      expect(limits).toBeGreaterThanOrEqual(2);
      expect(index).toBeGreaterThanOrEqual(Math.min(indexes, 1));
      expect(queue).toBeGreaterThanOrEqual(7);
    }
  }
});

test('what they are by default', () => {
  expect(sharesOf(24, { queue: true, indexes: 0 })).toEqual({ ledger: 10, queue: 10, limits: 4, index: 0 });
  expect(sharesOf(24, { queue: true, indexes: 1 })).toEqual({ ledger: 5, queue: 10, limits: 4, index: 5 });
  expect(sharesOf(4, { queue: false, indexes: 0 })).toEqual({ ledger: 4, queue: 0, limits: 0, index: 0 });
  expect(sharesOf(8, { queue: false, indexes: 1 })).toEqual({ ledger: 4, queue: 0, limits: 0, index: 4 });
});

test('a server that allows too few says what to set', () => {
  const refused = Object.assign(new DatabaseError('sorry, too many clients already', 0, 'error'), { code: '53300' });
  expect(asLedgerError(refused, 'postgres://here')).toMatchObject({
    code: 'ledger_unavailable',
    message: expect.stringContaining('lower SLOWWAVE_DATABASE_CONNECTIONS'),
  });
});
