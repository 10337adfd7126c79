import { describe, expect, test } from 'vitest';
import { type Columns, output, pairs, table } from './output.ts';

const recorder = () => {
  const written: string[] = [];
  return { written, write: (text: string) => written.push(text) };
};

describe('a table', () => {
  const columns: Columns<{ user: string; count: number }> = { user: 'user', memories: 'count' };

  test('has its columns below each other, numbers to the right, wide characters counted', () => {
    const rows = [
      { user: 'ann', count: 5 },
      { user: '北京', count: 1_200 },
    ];
    expect(table(columns, rows).split('\n')).toEqual(['user  memories', 'ann          5', '北京      1200']);
  });

  test('without rows is its head', () => {
    expect(table(columns, [])).toBe('user  memories');
  });

  test('shows no character that could move the cursor', () => {
    expect(table(columns, [{ user: 'a\u001b[2Jb\nc', count: 1 }])).toContain('a [2Jb c');
    expect(pairs([['name', 'a\r\nb']])).toBe('name  a b');
  });
});

test('what is not known is shown as such', () => {
  expect(pairs([['due', null]])).toBe('due  –');
});

test('answers go to standard output, in one line of JSON or as text; everything else to standard error', () => {
  for (const json of [true, false]) {
    const [stdout, stderr] = [recorder(), recorder()];
    const out = output({ stdout, stderr, json });
    out.answer({ done: 1 }, 'done once');
    out.say('by the way');
    expect(stdout.written).toEqual([json ? '{"done":1}\n' : 'done once\n']);
    expect(stderr.written).toEqual(['by the way\n']);
  }
});

test('progress away from a terminal is a line at the beginning and one at the end, without escapes', () => {
  const [stdout, stderr] = [recorder(), recorder()];
  const progress = output({ stdout, stderr, json: true }).progress({ title: 'rebuild', unit: 'memories' });
  for (const done of [0, 50, 100]) progress.update(done, 100);
  progress.stop();
  progress.stop();
  expect(stdout.written).toEqual([]);
  expect(stderr.written).toEqual([
    'rebuild: 0 of 100 memories (0%), 0/s\n',
    expect.stringMatching(/^rebuild: 100 of 100 memories \(100%\), \d+\/s\n$/),
  ]);
});
