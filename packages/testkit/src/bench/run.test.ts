import { expect, test } from 'vitest';
import { ServerError } from '../api.ts';
import type { Bench } from './bench.ts';
import { median, quantile } from './quantile.ts';
import { runBench } from './run.ts';

/** A bench that reaches what it is given. */
const BENCH: Bench = {
  name: 'made-up',
  what: 'Nothing that matters.',
  flags: { reached: { usual: '100', help: 'What it reaches.' }, place: { usual: 'here', help: 'here or there' } },
  run: async (given, progress) => {
    progress('half');
    const reached = given.number('reached', { max: 100 });
    if (given.choice('place', ['here', 'there']) === 'there') throw new ServerError('nobody is there');
    const verdict = { what: 'use', reached: `${reached} %`, target: '95 %', passed: reached >= 95, misses: [] };
    return {
      title: 'made up',
      figures: [{ what: 'reached', value: reached, unit: '%' }],
      verdicts: [verdict],
      remarks: [],
    };
  },
};

async function run(...args: string[]): Promise<{ code: number; result: string; note: string }> {
  let [result, note] = ['', ''];
  const code = await runBench(args, [BENCH], {
    result: (text) => {
      result += text;
    },
    note: (text) => {
      note += text;
    },
    progress: () => {},
  });
  return { code, result, note };
}

test('ends with 0 at the target and with 1 below it, and says which', async () => {
  expect(await run('made-up')).toMatchObject({
    code: 0,
    result: expect.stringContaining('pass  use  100 %  target 95 %'),
  });
  expect(await run('made-up', '--reached', '94')).toMatchObject({
    code: 1,
    result: expect.stringContaining('FAIL  use'),
  });
});

test('speaks JSON to machines', async () => {
  const { code, result } = await run('made-up', '--json', '--reached', '90');
  expect(code).toBe(1);
  expect(JSON.parse(result)).toMatchObject({ bench: 'made-up', passed: false, figures: [{ value: 90 }] });
});

test('explains itself, and wrong use', async () => {
  expect((await run('--help')).result).toContain('made-up');
  expect((await run('made-up', '--help')).result).toContain('--reached');
  expect(await run('unknown')).toMatchObject({ code: 2, note: expect.stringContaining('expected one of made-up') });
  expect(await run('made-up', '--reached', '101')).toMatchObject({
    code: 2,
    note: expect.stringContaining('from 1 to 100'),
  });
  expect(await run('made-up', '--no-such')).toMatchObject({ code: 2 });
  expect(await run('made-up', '--place', 'there')).toMatchObject({
    code: 3,
    note: expect.stringContaining('nobody is there'),
  });
});

test('a quantile is a value that was measured', () => {
  expect(quantile([4, 1, 3, 2], 0.95)).toBe(4);
  expect(median([4, 1, 3, 2])).toBe(2);
  expect(median([])).toBe(0);
});
