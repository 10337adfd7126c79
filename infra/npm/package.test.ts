import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort, spawnService, type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, writePackage } from './package.ts';

const run = promisify(execFile);
let folder: TempDir;
let command: string;
let files: readonly string[];

beforeAll(async () => {
  folder = await tempDir();
  await writePackage(folder.path);
  files = await readdir(folder.path, { recursive: true });
  command = join(folder.path, 'bin/slowwave.cjs');
  // What npm would install is taken from the workspace, as in the image.
  for (const room of ['apps', 'packages']) {
    for (const name of await readdir(join(folder.path, room))) {
      await symlink(join(ROOT, room, name, 'node_modules'), join(folder.path, room, name, 'node_modules')).catch(
        () => {},
      );
    }
  }
});
afterAll(() => folder.remove());

describe('the package that npm installs', () => {
  it('starts everything in one process, in the folder of the person who starts it', async () => {
    const home = await mkdtemp(join(folder.path, 'home-'));
    const url = `http://127.0.0.1:${await freePort()}`;
    const service = await spawnService({
      main: command,
      args: ['start', '--port', new URL(url).port],
      env: { HOME: home },
      cwd: home,
      ready: { url: `${url}/readyz` },
    });
    expect(service.output()).toContain(`sqlite in ${home}/.slowwave`);
    const said = { user_id: 'ana', flush: true, messages: 'I moved from Lisbon to Oslo.' };
    expect(await answer(`${url}/v1/batches?wait=20000`, said)).toMatchObject({ state: 'consolidated' });
    const { stdout } = await run(process.execPath, [command, 'search', 'home', '--user', 'ana', '--server', url]);
    expect(stdout).toContain('Oslo');
    expect(await (await fetch(`${url}/playground`)).text()).toContain('<script type="module"');
    await service.stop();
  });

  it('is the memory of a model by itself, over standard input and output', async () => {
    const home = await mkdtemp(join(folder.path, 'home-'));
    const env = { HOME: home, SLOWWAVE_PORT: String(await freePort()) };
    const child = spawn(process.execPath, [command, 'mcp', '--user', 'ana'], { env, cwd: home });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const asked = async (id: number, method: string, params: object): Promise<unknown> => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      return JSON.parse(String((await lines.next()).value));
    };
    const clientInfo = { name: 'test', version: '1' };
    await asked(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    const said = { name: 'add_memory', arguments: { text: 'I live in Oslo', wait_seconds: 45 } };
    expect(JSON.stringify(await asked(2, 'tools/call', said))).toContain('User lives in Oslo');
    child.stdin.end();
    expect(await once(child, 'close')).toEqual([0, null]);
  });

  it.each(['ingest', 'worker', 'search', 'console'])('starts %s, one of several processes', async (name) => {
    const failed = await run(process.execPath, [command, 'start', name, '--port', '1']).catch((error) => error);
    expect(failed).toMatchObject({ code: 2, stderr: expect.stringContaining('only slowwave start takes them') });
  });

  it('calls itself what people type, and reads settings from a file beside them', async () => {
    const { stdout } = await run(process.execPath, [command, 'start', '--help']);
    expect(stdout).toMatch(/^Usage: slowwave start \[options\]/);
    await writeFile(join(folder.path, 'slowwave.env'), 'SLOWWAVE_PORT=none\n');
    const failed = await run(process.execPath, [command, 'start'], { cwd: folder.path }).catch((error) => error);
    expect(failed).toMatchObject({ code: 2, stderr: expect.stringContaining('SLOWWAVE_PORT') });
  });

  it('holds no tests, no TypeScript, and a version of everything it needs', async () => {
    expect(files).toContain('apps/worker/src/main.js');
    expect(files.filter((file) => /\.ts$|\.test\./.test(file))).toEqual([]);
    const { dependencies, engines } = JSON.parse(await readFile(join(folder.path, 'package.json'), 'utf8'));
    expect(Object.entries(dependencies).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(String(version)))).toEqual([]);
    expect(engines.node).toMatch(/^>=\d+\.\d+$/);
  });
});

async function answer(url: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
}
