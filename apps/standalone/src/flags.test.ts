import { SETTINGS } from '@slowwave/adapters/config';
import { expect, test } from 'vitest';
import { FlagError, helpText, readFlags } from './terminal.ts';

test('flags are the settings under shorter names', () => {
  expect(readFlags(['--port', '7000', '--data-dir=here', '--redis-url', 'redis://host'])).toEqual({
    SLOWWAVE_PORT: '7000',
    SLOWWAVE_DATA_DIR: 'here',
    REDIS_URL: 'redis://host',
  });
});

test.each(['--help', '-h'])('%s asks for help, whatever else is said', (flag) => {
  expect(readFlags(['--port', '7000', flag])).toBeNull();
});

test('help lists every setting with its default, and keeps names and texts apart', () => {
  const text = helpText();
  for (const { name, about, byDefault } of SETTINGS) {
    if (name === 'SLOWWAVE_URL') continue; // for the command line, not for a server
    expect(text).toContain(`  ${about}`);
    expect(text).toContain(byDefault === null ? `(${name})` : `(${name}; default ${byDefault})`);
  }
});

test.each([
  ['a slip', ['--prot', '7000'], 'there is no option --prot; did you mean --port?'],
  ['an unknown flag', ['--colour=green'], 'there is no option --colour\n'],
  ['a flag without its value', ['--port'], '--port'],
  ['a word that is no flag', ['7000'], '7000'],
])('%s is refused, with where the flags are', (_name, args, named) => {
  expect(() => readFlags(args)).toThrow(FlagError);
  expect(() => readFlags(args)).toThrow(named);
  expect(() => readFlags(args)).toThrow('./scripts/start --help');
});
