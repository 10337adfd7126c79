import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { asLedgerError } from '../postgres/ledger/errors.ts';
import { sharesOf } from './stores.ts';

test('no process holds more connections than it may, and no part of it is left without', () => {
  for (let connections = 12; connections <= 1_000; connections += 1) {
    const { ledger, queue, limits } = sharesOf(connections, true);
    expect(ledger + queue + limits).toBe(connections);
    expect(Math.min(ledger, limits)).toBeGreaterThanOrEqual(2);
    expect(queue).toBeGreaterThanOrEqual(7);
  }
});

test('what they are by default', () => {
  expect(sharesOf(24, true)).toEqual({ ledger: 10, queue: 10, limits: 4 });
  expect(sharesOf(4, false)).toEqual({ ledger: 4, queue: 0, limits: 0 });
});

test('a server that allows too few says what to set', () => {
  const refused = Object.assign(new DatabaseError('sorry, too many clients already', 0, 'error'), { code: '53300' });
  expect(asLedgerError(refused, 'postgres://here')).toMatchObject({
    code: 'ledger_unavailable',
    message: expect.stringContaining('lower SLOWWAVE_DATABASE_CONNECTIONS'),
  });
});
