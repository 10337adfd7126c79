import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type OwnServer, startOwnServer, type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describedBy, generated } from '../codegen/generated.ts';

const run = promisify(execFile);
const HERE = fileURLToPath(new URL('..', import.meta.url));
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

let server: OwnServer;
let folder: TempDir;
beforeAll(async () => {
  folder = await tempDir();
  server = await startOwnServer({});
});
afterAll(async () => {
  await server.close();
  await folder.remove();
});

test.each(generated)('$name: what is there follows from the API as it is', async ({ file, text }) => {
  const written = await readFile(file, 'utf8');
  expect(written, 'run ./scripts/sdk-types').toBe(await text(await describedBy(server.url)));
});

test.each(['pnpm', 'npm'])(
  'what %s packs installs without anything else, compiles in strict projects, and works',
  async (packer) => {
    const cwd = join(folder.path, packer);
    await mkdir(cwd);
    const manifest = await readFile(join(HERE, 'package.json'), 'utf8');
    const { packageManager } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    const [program = '', ...first] = packer === 'npm' ? ['npm'] : ['npx', '-y', packageManager];
    await run(program, [...first, 'pack', '--pack-destination', cwd], { cwd: HERE });
    expect(await readFile(join(HERE, 'package.json'), 'utf8')).toBe(manifest);
    const [archive = ''] = await readdir(cwd);
    await writeFile(join(cwd, 'package.json'), '{"name":"user","private":true,"type":"module"}');
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(cwd, archive)], { cwd });
    expect(await readdir(join(cwd, 'node_modules'))).toEqual(['.package-lock.json', '@slowwave']);
    await writeFile(join(cwd, 'user.ts'), USER);
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'es2022'];
    const lib = ['--lib', 'es2022,dom', '--types', '', '--outDir', cwd];
    await run(join(ROOT, 'node_modules/.bin/tsc'), [...strict, ...lib, join(cwd, 'user.ts')], { cwd });
    const { stdout } = await run(process.execPath, [join(cwd, 'user.js'), server.url], { cwd });
    expect(JSON.parse(stdout)).toEqual({ state: 'consolidated', found: 'User lives in Oslo' });
  },
);

/** A program of somebody who installed the package. */
const USER = `
import { createSlowwave, type SearchResult, SlowwaveError } from '@slowwave/sdk';

declare const process: { argv: string[]; stdout: { write(text: string): void } };

const slowwave = createSlowwave({ url: process.argv[2] ?? '' });
const { batch_id } = await slowwave.batches.post({
  user_id: 'ana',
  messages: [{ role: 'user', content: 'I live in Oslo' }],
  flush: true,
});
const { state } = await slowwave.batches.settled(batch_id);
const found: SearchResult = await slowwave.memories.search({ user_id: 'ana', query: 'where does she live?' });
try {
  await slowwave.memories.get('mem_nobody');
} catch (error) {
  if (!(error instanceof SlowwaveError) || error.code !== 'not_found') throw error;
}
process.stdout.write(JSON.stringify({ state, found: found.results[0]?.memory }));
`;
