import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.ts';
import { slowwave } from './slowwave.ts';

let folder: TempDir;
let server: TestServer;
beforeAll(async () => {
  folder = await tempDir();
  server = await startServer(folder.path, {});
});
afterAll(async () => {
  await server.stop();
  await folder.remove();
});

const run = (...args: string[]) => slowwave([...args, '--server', server.url]);

test('what is said is remembered, found, looked back at and exported', async () => {
  const added = await run('add', 'I live in Oslo', '--user', 'dee');
  expect([added.code, added.out]).toEqual([0, expect.stringMatching(/ADD +mem_\w+ +User lives in Oslo/)]);
  const file = join(folder.path, 'talk.json');
  await writeFile(
    file,
    JSON.stringify([
      { role: 'user', content: 'Actually I live in Bergen now.' },
      { role: 'assistant', content: null, refusal: 'No.' },
    ]),
  );
  expect((await run('add', '--file', file, '--user', 'dee', '--json')).json()).toMatchObject({ state: 'consolidated' });
  expect((await run('users', 'de')).out).toMatch(/^user +dee +1/m);
  expect((await run('memories', '--user', 'dee')).out).toMatch(/2 +User lives in Bergen/);
  const { results } = (await run('search', 'where does she live', '--user', 'dee', '--json')).json();
  expect(results).toMatchObject([{ memory: 'User lives in Bergen' }]);
  expect((await run('search', 'where does she live', '--user', 'dee')).out).toMatch(/^score/);
  expect((await run('context', 'where does she live', '--user', 'dee')).out).toContain('Bergen');
  const history = await run('history', results[0].id);
  expect(history.out).toMatch(/ADD.*Oslo\n.*UPDATE.*Oslo.*Bergen/);
  const lines = (await run('export', 'user', 'dee')).out.trimEnd().split('\n');
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ type: 'end' });
  expect((await run('export', 'user', 'dee', '--json')).json()).toHaveLength(lines.length);
});

test('what nobody knows ends with 4, and what cannot be meant with 2', async () => {
  expect(await run('history', 'mem_nobody')).toMatchObject({ code: 4, out: '' });
  expect(await run('export', 'user', 'nobody')).toMatchObject({ code: 4, out: '' });
  expect(await run('add', 'said by nobody')).toMatchObject({ code: 2, err: expect.stringContaining('--user') });
  expect(await run('add', '--user', 'dee')).toMatchObject({ code: 2, err: expect.stringContaining('--file') });
  expect((await run('search', 'paint', '--user', 'nobody')).out).toBe('No memory answers this.\n');
  expect((await slowwave(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});
