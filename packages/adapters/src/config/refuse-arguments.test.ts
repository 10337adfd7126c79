import { expect, test } from 'vitest';
import { ArgumentError, refuseArguments } from './refuse-arguments.ts';

test('a program without arguments is welcome', () => {
  expect(() => refuseArguments([])).not.toThrow();
});

test.each([
  [
    'options of settings',
    ['--data-dir', 'here', '--redis-url=redis://:secret@host'],
    'set SLOWWAVE_DATA_DIR, REDIS_URL',
  ],
  ['an option there is not', ['--dta-dir', 'here'], 'got --dta-dir: '],
  ['help', ['--help'], 'docs/settings.md'],
  ['words', ['secret', 'too'], 'got 2: '],
])('%s are refused with how they are said, and no value is repeated', (_what, args, said) => {
  const refused = () => refuseArguments(args);
  expect(refused).toThrow(ArgumentError);
  expect(refused).toThrow(said);
  expect(refused).not.toThrow(/secret|here/);
});
