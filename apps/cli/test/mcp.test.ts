import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { COMPILE_CACHE, freePort, type TempDir, tempDir } from '@slowwave/testkit';
import { type Host, overStdio, tryTo, use } from '@slowwave/testkit/mcp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startServer } from './server.ts';
import { MAIN } from './slowwave.ts';

describe('slowwave mcp', () => {
  let folder: TempDir;
  let env: Record<string, string>;
  const hosts: Host[] = [];
  beforeEach(async () => {
    folder = await tempDir();
    env = { SLOWWAVE_DATA_DIR: folder.path, SLOWWAVE_PORT: String(await freePort()) };
  });
  afterEach(async () => {
    await Promise.all(hosts.splice(0).map((host) => host.close()));
    await folder.remove();
  });

  async function started(args: readonly string[] = ['--user', 'ana']): Promise<Host> {
    const host = await overStdio('modern', args, env);
    hosts.push(host);
    return host;
  }

  const say = (host: Host, said: string) => use(host, 'add_memory', { text: said, wait_seconds: 45 });
  const listed = async (host: Host) => (await use(host, 'get_memories')).text;

  it('is the server itself while there is none, and leaves it to the next one when it ends', async () => {
    const [first, second] = [await started(), await started()];
    // Side by side from the start: one of them has the server, whichever it is.
    await Promise.all([say(first, 'I live in Oslo'), use(second, 'get_memories')]);
    expect(await listed(second)).toContain('Oslo');
    hosts.splice(hosts.indexOf(first), 1);
    await first.close();
    await say(second, 'I have a dog');
    const both = await listed(second);
    expect([both.includes('Oslo'), both.includes('dog')]).toEqual([true, true]);
    const third = await started();
    hosts.splice(hosts.indexOf(second), 1);
    await second.close();
    expect(await listed(third)).toContain('dog');
  });

  it('uses the server of this machine, and ends without ending it', async () => {
    const server = await startServer(folder.path);
    env.SLOWWAVE_PORT = new URL(server.url).port;
    const host = await started();
    await say(host, 'I live in Oslo');
    hosts.splice(0);
    await host.close();
    expect(await server.memories('ana')).toMatchObject([{ memory: 'User lives in Oslo' }]);
    await server.stop();
  });

  it('says what to do if the folder belongs to a server elsewhere, and if a server does not answer', async () => {
    const server = await startServer(folder.path);
    const host = await started();
    const taken = await tryTo(host, 'get_memories');
    expect(taken).toMatchObject({ isError: true, text: expect.stringContaining('is in use by process') });
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const lost = await tryTo(await started(['--server', nobody]), 'get_memories', { user_id: 'ana' });
    expect(lost).toMatchObject({ isError: true, text: expect.stringContaining(nobody) });
    await server.stop();
  });

  it('needs the key of a server that has one, and says where to put it', async () => {
    const key = 'a-secret-of-some-length';
    const server = await startServer(folder.path, { SLOWWAVE_API_KEY: key });
    const args = ['--server', server.url, '--user', 'ana'];
    const refused = await tryTo(await started(args), 'get_memories');
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('SLOWWAVE_API_KEY') });
    env.SLOWWAVE_API_KEY = key;
    expect(await listed(await started(args))).toBe('Nothing is remembered.');
    await server.stop();
  });

  it('writes nothing but the protocol to standard output, and ends with its input', async () => {
    const child = spawn(process.execPath, [MAIN, 'mcp', '--user', 'ana'], {
      env: { ...COMPILE_CACHE, ...env, SLOWWAVE_LOG_LEVEL: 'debug' },
      stdio: 'pipe',
    });
    const ended = once(child, 'close');
    const said = text(child.stderr);
    const lines: { id?: number; jsonrpc: string }[] = [];
    const answered = Promise.withResolvers<void>();
    createInterface(child.stdout).on('line', (line) => {
      lines.push(JSON.parse(line));
      if (lines.length === CALLS.length) answered.resolve();
    });
    for (const call of CALLS) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...call })}\n`);
    await answered.promise;
    child.stdin.end();
    expect(await ended).toEqual([0, null]);
    expect(lines.map(({ id, jsonrpc }) => [id, jsonrpc]).sort()).toEqual(CALLS.map(({ id }) => [id, '2.0']));
    expect(await said).toContain('no server was running');
  });
});

const CLIENT = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
const CALLS = [
  { id: 1, method: 'initialize', params: CLIENT },
  { id: 2, method: 'tools/list' },
  {
    id: 3,
    method: 'tools/call',
    params: { name: 'add_memory', arguments: { text: 'I live in Oslo', wait_seconds: 45 } },
  },
  { id: 4, method: 'tools/call', params: { name: 'get_memories', arguments: {} } },
];
