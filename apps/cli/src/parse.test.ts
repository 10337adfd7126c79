import { expect, test } from 'vitest';
import type { Command } from './command.ts';
import { UsageError } from './exit.ts';
import { commandHelp, parse, programHelp } from './run.ts';

const command = (given: Partial<Command>): Command => ({
  name: 'show',
  usage: '<id>',
  summary: 'Show one.',
  run: async () => null,
  ...given,
});
const COMMANDS = [
  command({}),
  command({ name: 'rebuild index', usage: '', on: 'stores' }),
  command({ name: 'rebuild queue', usage: '', options: { slow: { value: null, about: 'Slowly.' } } }),
];

test('a command is found by all its words, with options and arguments in any order', () => {
  const asked = parse(['show', '--server', 'http://x', 'bat_1', '--json'], COMMANDS);
  if (asked.kind !== 'run') return expect.unreachable();
  expect(asked.command.name).toBe('show');
  expect(asked.given.words).toEqual(['bat_1']);
  expect(asked.given.text('server')).toBe('http://x');
  expect([asked.given.flag('json'), asked.given.flag('offline')]).toEqual([true, false]);
  expect(asked.given.text('data-dir')).toBeNull();
  expect(parse(['rebuild', 'queue', '--slow'], COMMANDS)).toMatchObject({ command: { name: 'rebuild queue' } });
});

test.each([
  ['no words', [], null],
  ['--help', ['--help'], null],
  ['help', ['help'], null],
  ['help of a command', ['help', 'rebuild', 'queue'], 'rebuild queue'],
  ['--help after a command', ['rebuild', 'queue', '--help'], 'rebuild queue'],
  ['-h in place of its arguments', ['show', '-h'], 'show'],
])('%s asks for help', (_name, args, name) => {
  const asked = parse(args, COMMANDS);
  if (asked.kind !== 'help') return expect.unreachable();
  expect(asked.command?.name ?? null).toBe(name);
});

test('the help of a first word is that of the commands that begin with it', () => {
  for (const args of [
    ['rebuild', '--help'],
    ['rebuild', '-h'],
    ['help', 'rebuild'],
  ]) {
    const asked = parse(args, COMMANDS);
    if (asked.kind !== 'help' || asked.command !== null) return expect.unreachable();
    expect(asked.group.map(({ name }) => name)).toEqual(['rebuild index', 'rebuild queue']);
  }
});

test.each([
  ['an unknown command', ['shwo'], 'expected a command; got "shwo"; did you mean show?'],
  ['a command like no other', ['paint'], 'expected a command; got "paint"\n'],
  ['a slip in an option', ['rebuild', 'queue', '--slwo'], 'did you mean --slow?'],
  ['half of a command', ['rebuild'], 'expected one of: rebuild index, rebuild queue; got "rebuild"'],
  ['another second word', ['rebuild', 'all'], 'got "rebuild all"'],
  ['an unknown option', ['show', 'x', '--colour'], "'--colour'"],
  ['a missing argument', ['show'], 'slowwave show: expected arguments <id>, got 0'],
  ['an argument too many', ['rebuild', 'index', 'now'], 'expected no arguments, got 1'],
  ['a server for a command that works on stores', ['rebuild', 'index', '--server', 'http://x'], "'--server'"],
])('%s is refused, with where to read on', (_name, args, said) => {
  expect(() => parse(args, COMMANDS)).toThrow(UsageError);
  expect(() => parse(args, COMMANDS)).toThrow(said);
  expect(() => parse(args, COMMANDS)).toThrow('--help');
});

test('the help names every command; a command tells every option it has', () => {
  const help = programHelp(COMMANDS);
  for (const { name, summary } of COMMANDS) expect(help).toContain(`  ${name.padEnd(24)}${summary}`);
  const [, , queue = command({})] = COMMANDS;
  expect(commandHelp(queue)).toContain('Usage: ./scripts/slowwave rebuild queue [options]');
  for (const option of ['--slow', '--server URL', '--data-dir DIR', '--json']) {
    expect(commandHelp(queue)).toContain(option);
  }
});
