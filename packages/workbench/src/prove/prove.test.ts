import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { atLeast, atMost } from '../bench/report.ts';
import { judged, type Measured } from './benches.ts';
import type { Outcome, Proof } from './proof.ts';
import { PROOFS } from './proofs.ts';
import { prove } from './prove.ts';

const PAGE = await readFile(resolve(import.meta.dirname, '../../../../docs/proofs.md'), 'utf8');

/** Runs the program; what its programs would print comes from reports. */
async function run(args: readonly string[], { proofs = PROOFS, reports = {} as Record<string, unknown> } = {}) {
  const done = { code: 0, result: '', notes: '', page: PAGE, commands: [] as string[] };
  done.code = await prove(args, proofs, {
    result: (text) => {
      done.result += text;
    },
    note: (text) => {
      done.notes += `${text}\n`;
    },
    tools: {
      json: async (command) => {
        done.commands.push(command.join(' '));
        const [, report] = Object.entries(reports).find(([start]) => command.join(' ').startsWith(start)) ?? [];
        if (report === undefined) throw new Error(`expected no ${command.join(' ')}`);
        return report;
      },
      withCheckout: (commit, work) => work(`/checkout/${commit}`),
    },
    commit: async () => 'abc1234',
    today: () => '2026-02-03',
    rewrite: async (change) => {
      done.page = change(done.page);
    },
  });
  return done;
}

test('the help and docs/proofs.md name every proof, with what it proves and how long it takes', async () => {
  const { code, result } = await run(['--help']);
  expect(code).toBe(0);
  const rows = PAGE.split('\n').filter((line) => line.startsWith('| `./scripts/prove '));
  const cells = rows.map((row) => row.split(' | ').map((cell) => cell.replace(/^\| /, '')));
  const wanted = PROOFS.map(({ name, proves, takes }) => [`\`./scripts/prove ${name}\``, proves, takes]);
  expect(cells.map((row) => row.slice(0, 3))).toEqual(wanted);
  for (const { name, takes } of PROOFS) expect(result).toMatch(new RegExp(`^  ${name} +${takes} +`, 'm'));
  for (const { proves } of PROOFS) expect(result).toContain(proves);
});

test.each(PROOFS)('the help of $name lists its options', async ({ name, flags }) => {
  const { code, result } = await run([name, '--help']);
  expect(code).toBe(0);
  for (const flag of [...Object.keys(flags), 'json', 'write']) expect(result).toContain(`--${flag}`);
});

test('what nobody knows, an unknown option, and a missing one are wrong use', async () => {
  expect(await run(['luck'])).toMatchObject({ code: 2, notes: expect.stringContaining('chaos-sqlite') });
  expect(await run(['fuzz', '--faults', '3'])).toMatchObject({ code: 2, commands: [] });
  expect(await run(['qdrant'])).toMatchObject({ code: 2, notes: expect.stringContaining('--qdrant-url') });
  expect(await run(['benches', '--old', 'v1', '--only', 'luck'])).toMatchObject({ code: 2, commands: [] });
  expect(await run(['benches', '--old', 'v1', '--rounds', '0'])).toMatchObject({ code: 2, commands: [] });
});

const CHAOS = {
  seed: 7,
  faults: 300,
  accepted: 2_913,
  lost: 0,
  doubled: 0,
  gap: 0,
  paidTwice: 0,
  recoveredMs: { p50: 1_500, p95: 11_900, most: 30_000 },
  findings: [] as readonly { kind: string; what: string }[],
};

test('a proof ends with its result, and with the row for the page', async () => {
  const { code, result, commands, page } = await run(['chaos-sqlite'], { reports: { 'scripts/chaos': [CHAOS] } });
  expect(commands).toEqual(['scripts/chaos --mode sqlite --faults 300 --json']);
  const figure =
    'seed 7: 300 faults, 2,913 batches, lost 0, doubled 0, gap 0, paid twice 0, recovered p50 1.5 s, p95 11.9 s';
  expect(result.trimEnd().split('\n').at(-1)).toBe(`proved chaos-sqlite: ${figure}`);
  expect(result).toContain(`| ${figure} | abc1234 | 2026-02-03 |`);
  expect([code, page]).toEqual([0, PAGE]);
});

test('--write replaces the row of this proof alone, and only if it is proved', async () => {
  const reports = { 'scripts/chaos': [CHAOS] };
  const { page } = await run(['chaos-sqlite', '--seed', '7', '--write'], { reports });
  const changed = page.split('\n').filter((line, i) => line !== PAGE.split('\n')[i]);
  expect(changed).toEqual([expect.stringMatching(/^\| `.\/scripts\/prove chaos-sqlite` \| .* \| abc1234 \| /)]);
  const lost = { ...CHAOS, lost: 1, findings: [{ kind: 'lost', what: 'batch bat_1' }] };
  const failed = await run(['chaos-sqlite', '--write'], { reports: { 'scripts/chaos': [lost] } });
  expect([failed.code, failed.page]).toEqual([1, PAGE]);
  expect(failed.result).toContain('lost: batch bat_1');
  expect(failed.result.trimEnd().split('\n').at(-1)).toContain('not proved chaos-sqlite: ');
});

test('--write is refused for a part of a proof', async () => {
  const { code, commands, notes } = await run(['chaos-sqlite', '--faults', '1', '--write']);
  expect([code, commands]).toEqual([2, []]);
  expect(notes).toContain('remove --faults');
});

test('a program that ends without a report is a failure, with its reason', async () => {
  const { code, result } = await run(['fuzz', '--json']);
  expect(code).toBe(1);
  expect(JSON.parse(result)).toMatchObject({
    name: 'fuzz',
    proved: false,
    failures: ['expected no scripts/fuzz --requests 10000 --json'],
  });
});

test('fuzz without costs is no proof', async () => {
  const fuzz = { requests: 9, seed: 1, succeeded: 3, operations: 3, findings: [] };
  const { code, result } = await run(['fuzz'], { reports: { 'scripts/fuzz': fuzz } });
  expect([code, result]).toEqual([1, expect.stringContaining('costs of bodies were not measured')]);
  const whole = { ...fuzz, costs: { findings: [] } };
  expect((await run(['fuzz'], { reports: { 'scripts/fuzz': whole } })).code).toBe(0);
});

test('the index on Qdrant is proved by tests that ran', async () => {
  const tests = (fullName: string) => ({
    numPassedTests: 1,
    testResults: [{ name: 'qdrant', assertionResults: [{ fullName, status: 'passed' }] }],
  });
  const args = ['qdrant', '--qdrant-url', 'http://127.0.0.1:6333'];
  const reports = (name: string) => ({ 'node_modules/.bin/node': tests(name), 'scripts/chaos': [CHAOS] });
  expect((await run(args, { reports: reports('finds what was written') })).code).toBe(0);
  expect((await run(args, { reports: reports('did NOT run: no Qdrant answers') })).code).toBe(1);
});

test('builtin models are not real ones', async () => {
  const report = { name: 'talk', messages: 3, models: 'gpt of http://127.0.0.1', targets: [], degraded: [] };
  const args = ['models', '--file', 'talk.json'];
  expect((await run(args, { reports: { 'scripts/evaluate': report } })).code).toBe(0);
  const builtin = { ...report, models: 'the builtin models' };
  expect((await run(args, { reports: { 'scripts/evaluate': builtin } })).code).toBe(1);
});

test('benchmarks run at both commits in turns', async () => {
  const report = measured({ posted: [10, '/s'] });
  const reports = { 'scripts/bench': report, '/checkout/v1/scripts/bench': report };
  const args = ['benches', '--old', 'v1', '--only', 'ingest,fresh', '--rounds', '2'];
  const { code, commands } = await run(args, { reports });
  const round = ['ingest', 'fresh'].flatMap((name) => [
    `/checkout/v1/scripts/bench ${name} --json`,
    `scripts/bench ${name} --json`,
  ]);
  expect([code, commands]).toEqual([0, [...round, ...round]]);
});

const measured = (
  figures: Record<string, readonly [number, string]>,
  comparisons: Measured['comparisons'] = [],
): Measured => ({
  bench: 'ingest',
  title: '',
  figures: Object.entries(figures).map(([what, [value, unit]]) => ({ what, value, unit })),
  verdicts: [],
  comparisons,
  remarks: [],
});

test('what got slower in every run is named, what only varies is not', () => {
  const old = [10, 11, 12].map((rate) => measured({ posted: [rate, '/s'], median: [5, 'ms'] }));
  const varied = [8, 9, 10.5].map((rate) => measured({ posted: [rate, '/s'], median: [6, 'ms'] }));
  expect(judged(old, old).failures).toEqual([]);
  expect(judged(old, varied).failures).toEqual([expect.stringContaining('ingest: median, ms: 0.83 ×')]);
  expect(judged(varied, old)).toMatchObject({ failures: [], figure: expect.stringContaining('0 worse') });
});

test('comparisons count by their ratio, in the direction of their target; counts do not count', () => {
  const sides = (ours: number) => ({
    what: 'time',
    unit: 'ms',
    ours: { name: 'a', value: ours },
    yardstick: { name: 'b', value: 10 },
  });
  const both = (ours: number) => [
    measured({ users: [ours, ''] }, [atMost(2, sides(ours)), atLeast(2, { ...sides(ours), what: 'rate' })]),
  ];
  expect(judged(both(10), both(20)).failures).toEqual([expect.stringContaining('ingest: time, ratio: 0.50 ×')]);
  expect(judged(both(20), both(10)).failures).toEqual([expect.stringContaining('ingest: rate, ratio: 0.50 ×')]);
  expect(judged([measured({ users: [1, ''] })], [measured({ users: [1, ''] })]).failures).toHaveLength(1);
});

test('a figure with a bar does not break the table', async () => {
  const odd: Proof = {
    ...(PROOFS[0] as Proof),
    run: async (): Promise<Outcome> => ({ figure: 'a | b', failures: [], report: null }),
  };
  const { page } = await run([odd.name, '--write'], { proofs: [odd] });
  expect(page).toContain('| a \\| b | abc1234 | 2026-02-03 |');
});
