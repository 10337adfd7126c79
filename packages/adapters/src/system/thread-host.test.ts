import { EngineError, InvalidCursorError } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { flattenError, reviveError } from './thread-host.ts';

const acrossThread = (error: unknown): Error => reviveError(structuredClone(flattenError(error)));

test.each([
  { retryable: true, countsAsTry: false },
  { retryable: false, countsAsTry: true },
])('an error of the engine is the same on the other side of a thread: %o', (facts) => {
  const error = acrossThread(new EngineError('the disk is full', { code: 'ledger_unavailable', ...facts }));
  expect(error).toBeInstanceOf(EngineError);
  expect(error).toMatchObject({ message: 'the disk is full', code: 'ledger_unavailable', ...facts });
});

test('a wrong cursor stays one, and any other error keeps its name and code', () => {
  expect(acrossThread(new InvalidCursorError())).toBeInstanceOf(InvalidCursorError);
  const error = acrossThread(Object.assign(new TypeError('no such thing'), { code: 'EMISSING' }));
  expect(error).not.toBeInstanceOf(EngineError);
  expect(error).toMatchObject({ name: 'TypeError', message: 'no such thing', code: 'EMISSING' });
});
