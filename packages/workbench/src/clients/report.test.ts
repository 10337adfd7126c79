import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CLIENTS } from './clients.ts';
import { countsOf, failuresOf, figureOf, reportIn, tableOf, withTables } from './report.ts';

const worked = (count: number) => Array.from({ length: count }, (_, i) => ({ call: `call ${i}` }));
const client = (calls: readonly { call: string; error?: string }[]) => ({ name: 'mem0ai', version: '9.9.9', calls });

test('what a harness prints is read from its last line, whatever the client prints before', () => {
  const line = JSON.stringify({ version: '1.2.3', calls: [{ call: 'add' }] });
  expect(reportIn('mem0ai', `No telemetry\n{"error":1}\n${line}\n`)).toEqual({
    name: 'mem0ai',
    version: '1.2.3',
    calls: [{ call: 'add' }],
  });
  expect(() => reportIn('mem0ai', 'Traceback')).toThrow(/calls of mem0ai.*Traceback/);
});

test('calls that make no sense here count apart, with the reason', () => {
  const members = { call: 'async project.add_member', error: 'MemoryNotFoundError: there is no POST …' };
  const own = { call: 'feedback(POSITIVE)', error: 'TypeError: capture_client_event() takes …' };
  const wrong = { call: 'feedback(NEGATIVE)', error: 'ValidationError: no' };
  const one = client([...worked(2), members, own, wrong]);
  expect(countsOf(one)).toEqual({ tried: 3, works: 2, apart: 2 });
  const tables = tableOf({ clients: [one], skipped: [] });
  expect(tables).toContain('| mem0ai | 9.9.9 | 3 | 2 | 2 |');
  expect(tables).toContain('`project.add_member`');
  expect(tables).toContain('| `feedback(NEGATIVE)` | no |');
});

test('a reason that a client keeps to itself is told by another', () => {
  const told = { call: 'async add(x)', error: 'ValidationError: {"error":"x is not taken","code":"invalid_request"}' };
  const mute = { call: 'add(x)', error: "APIError: Client error '400 Bad Request' for url 'http://127.0.0.1:1/mem0'" };
  expect(tableOf({ clients: [client([mute]), client([told])], skipped: [] })).toContain(
    '| `add(x)` | x is not taken |',
  );
});

test('less than 95 of 100 calls, or a client that could not be tried, speaks against it', () => {
  const refused = (count: number) => Array.from({ length: count }, () => ({ call: 'add(x)', error: 'x is not taken' }));
  const [good, bad] = [client([...worked(95), ...refused(5)]), client([...worked(94), ...refused(6)])];
  expect(failuresOf({ clients: [good], skipped: [] })).toEqual([]);
  expect(failuresOf({ clients: [bad], skipped: [] })[0]).toContain('94 of 100');
  expect(failuresOf({ clients: [good], skipped: ['SKIPPED n8n: no npm'] })).toEqual(['SKIPPED n8n: no npm']);
  expect(figureOf({ clients: [good, bad], skipped: [] })).toBe(
    '2 clients: 189 of 200 calls work, the least 94.0%; 0 others make no sense here',
  );
});

test('the tables stand between their marks, once, however often they are written', () => {
  const page = 'before\n<!-- clients -->\n\nold\n\n<!-- /clients -->\nafter\n';
  const once = withTables(page, '| a |\n');
  expect(once).toBe('before\n<!-- clients -->\n\n| a |\n\n<!-- /clients -->\nafter\n');
  expect(withTables(once, '| a |\n')).toBe(once);
  expect(() => withTables('no marks', '')).toThrow(/clients/);
});

test('every client has a harness', async () => {
  for (const { harness } of CLIENTS) {
    expect((await readFile(join(import.meta.dirname, 'harness', harness), 'utf8')).length).toBeGreaterThan(0);
  }
});
