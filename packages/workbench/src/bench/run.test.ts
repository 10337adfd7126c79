import { expect, test } from 'vitest';
import { ServerError } from '../api.ts';
import type { Bench } from './bench.ts';
import { drawingOf } from './draw.ts';
import { atLeast, atMost, median, quantile } from './report.ts';
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
    const verdict = { what: 'use', reached: `${reached}%`, target: '95%', passed: reached >= 95, misses: [] };
    return {
      title: 'made up',
      figures: [{ what: 'reached', value: reached, unit: '%' }],
      verdicts: [verdict],
      comparisons: [
        atMost(2, {
          what: 'wait <95 of 100>',
          unit: 'ms',
          ours: { name: 'beside', value: reached },
          yardstick: { name: 'alone', value: 100 },
        }),
      ],
      remarks: [],
    };
  },
};

async function run(...args: string[]): Promise<{ code: number; result: string; note: string; saved: string }> {
  let [result, note, saved] = ['', '', ''];
  const code = await runBench(args, [BENCH], {
    result: (text) => {
      result += text;
    },
    note: (text) => {
      note += text;
    },
    save: async (path, text) => {
      saved = `${path}: ${text}`;
    },
    progress: () => {},
  });
  return { code, result, note, saved };
}

test('ends with 0 at the target and with 1 below it, and says which', async () => {
  expect(await run('made-up')).toMatchObject({
    code: 0,
    result: expect.stringMatching(/pass {2}use +100% +target 95%/),
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

test('draws what is compared, and says where it is below the target', async () => {
  const { code, result, saved } = await run('made-up', '--svg', 'out.svg');
  expect(code).toBe(0);
  expect(result).toContain('wait <95 of 100>: beside, against alone  100 and 100 ms, 1×  target at most 2×');
  expect(saved).toMatch(/^out\.svg: <svg [\s\S]*<\/svg>\n$/);
  expect(saved).toContain('wait &lt;95 of 100&gt;');
  expect(saved).not.toContain('missed</text>');
  const slow = { what: 'wait', unit: 'ms', ours: { name: 'a', value: 9 }, yardstick: { name: 'b', value: 2 } };
  const found = {
    title: 't',
    figures: [],
    verdicts: [],
    remarks: [],
    comparisons: [atMost(2, slow), atLeast(0.05, slow)],
  };
  expect(drawingOf(found)).toContain('target: at most 2×, missed</text>');
  expect(drawingOf(found)).toContain('target: at least 1/20</text>');
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
