import { expect, test } from 'vitest';
import { conformance } from './conformance.ts';
import type { Kind } from './servers.ts';

interface Case {
  readonly fullName: string;
  readonly status: 'passed' | 'failed';
}

const PASSED: Case = { fullName: 'the index finds', status: 'passed' };

/** The program with a server that holds something, and suites that come out in a way. */
async function run(args: readonly string[], { holds = [] as string[], cases = [PASSED] } = {}) {
  const said = { result: '', note: '' };
  const seen = { commands: [] as string[], settings: [] as unknown[], cleaned: 0, closed: 0 };
  const kind: Kind = {
    flag: 'qdrant',
    name: 'Qdrant',
    example: 'http://127.0.0.1:6333',
    suites: [{ store: 'index', setting: 'QDRANT_URL', tests: 'tests/of/qdrant' }],
    open: async (url) => {
      if (url.includes('nowhere')) throw new Error('connection refused');
      const clean = async (): Promise<void> => {
        seen.cleaned += 1;
      };
      const close = async (): Promise<void> => {
        seen.closed += 1;
      };
      return { version: '1.18.3', holds, clean, close };
    },
  };
  const code = await conformance(args, {
    result: (text) => {
      said.result += text;
    },
    note: (text) => {
      said.note += text;
    },
    kinds: [kind],
    tools: {
      json: async (command, how) => {
        seen.commands.push(command.join(' '));
        seen.settings.push(how?.env);
        const numPassedTests = cases.filter(({ status }) => status === 'passed').length;
        return { numPassedTests, testResults: [{ name: 'a file', assertionResults: cases }] };
      },
    },
  });
  return { code, ...said, ...seen };
}

test('runs the suites on the server that is named, prints a table, and cleans up', async () => {
  const { code, result, commands, settings, cleaned, closed } = await run(['--qdrant', 'http://here']);
  expect(code).toBe(0);
  expect(result.split('\n').map((line) => line.split(/\s+/))).toEqual([
    ['store', 'server', 'version', 'cases', 'passed', 'failed'],
    ['index', 'Qdrant', '1.18.3', '1', '1', '0'],
    [''],
  ]);
  expect(commands).toEqual([expect.stringMatching(/ tests\/of\/qdrant$/)]);
  expect(settings).toEqual([{ QDRANT_URL: 'http://here' }]);
  expect([cleaned, closed]).toEqual([1, 1]);
});

test('ends with 1 when a case fails, names it, and cleans up all the same', async () => {
  const cases: Case[] = [PASSED, { fullName: 'the index forgets', status: 'failed' }];
  const { code, result, cleaned } = await run(['--qdrant', 'http://here'], { cases });
  expect([code, cleaned]).toEqual([1, 1]);
  expect(result).toMatch(/index +Qdrant +1\.18\.3 +2 +1 +1\n {2}index on Qdrant: the index forgets\n/);
  const { result: json } = await run(['--qdrant', 'http://here', '--json'], { cases });
  expect(JSON.parse(json)).toEqual([expect.objectContaining({ cases: 2, failed: 1, failures: ['the index forgets'] })]);
});

test('tests that did not run are no passed ones', async () => {
  const cases: Case[] = [{ fullName: 'did NOT run: no Qdrant answers', status: 'passed' }];
  expect((await run(['--qdrant', 'http://here'], { cases })).code).toBe(1);
});

test('leaves a server alone that is not empty, or does not answer', async () => {
  const full = await run(['--qdrant', 'http://here'], { holds: ['the collection precious', 'the collection other'] });
  expect(full).toMatchObject({ code: 2, commands: [], cleaned: 0, closed: 1 });
  expect(full.note).toContain('got the collection precious and 1 more; use another one');
  const away = await run(['--qdrant', 'http://nowhere']);
  expect(away).toMatchObject({ code: 2, commands: [], note: expect.stringContaining('got: connection refused') });
});

test('without a server, or with another option, it is wrong use; help is not', async () => {
  expect((await run([])).note).toContain('expected at least one of --qdrant URL');
  expect((await run(['--mysql', 'x'])).code).toBe(2);
  const help = await run(['--help']);
  expect([help.code, help.result]).toEqual([0, expect.stringContaining('--qdrant URL')]);
});
