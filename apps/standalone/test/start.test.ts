import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE, programFile, type Service, spawnService, type TempDir, tempDir } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { found, get, post, said } from './client.ts';

const MAIN = programFile('standalone');
/** Port 0: any free one. */
const env = (more: Readonly<Record<string, string>> = {}) => ({
  SLOWWAVE_DATA_DIR: folder.path,
  SLOWWAVE_PORT: '0',
  ...more,
});

let folder: TempDir;
beforeEach(async () => {
  folder = await tempDir();
});
afterEach(async () => {
  await folder.remove();
});

/** A start that is expected to end by itself. */
async function startAndEnd(args: readonly string[], settings = env(), main = MAIN) {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...COMPILE_CACHE, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await ended;
  return { code, out, err };
}

const running = (settings = env()): Promise<Service> =>
  spawnService({ main: MAIN, env: settings, ready: { line: /Ctrl-C stops it/ } });

const urlOf = async (service: Service): Promise<string> =>
  (await service.waitForLine(/listening on/)).replace(/^.*listening on /, '');

/** What the terminal sends on Ctrl-C. */
async function interrupt(service: Service) {
  process.kill(service.pid, 'SIGINT');
  return service.waitForExit();
}

describe('starting', () => {
  it('says what it runs on and where things are; what is printed to be pasted works, and is known after Ctrl-C', async () => {
    const service = await running();
    const url = await urlOf(service);
    expect(service.output()).toContain('builtin (no model; for evaluation and tests only)');
    expect(service.output()).toContain(`sqlite in ${folder.path}`);
    expect((await get(`${url}/docs/`)).status).toBe(200);
    const { body: live } = await get(`${url}/healthz`);
    expect(live.runs_on).toEqual({
      ledger: 'SQLite',
      index: 'SQLite',
      queue: 'in process',
      chat_model: 'builtin',
      image_model: 'none',
      embedding_model: 'builtin',
      reranker: 'none',
    });
    const pasted =
      service
        .output()
        .match(/-d '(\{.*\})'/g)
        ?.map((line) => JSON.parse(line.slice(4, -1))) ?? [];
    expect(pasted).toHaveLength(2);
    expect((await post(`${url}/v1/batches?wait=60000`, pasted[0])).body.state).toBe('consolidated');
    expect((await post(`${url}/v1/search`, pasted[1])).body.results[0].memory).toContain('Oslo');
    expect(await interrupt(service)).toEqual({ code: 0, signal: null });
    const second = await running();
    expect((await found(await urlOf(second), 'ana', 'where does she live?'))[0]).toContain('Oslo');
    expect(await interrupt(second)).toEqual({ code: 0, signal: null });
  });
});

describe('pnpm dev', () => {
  it('ends with 0 on SIGTERM, without an .env file too', async () => {
    const root = new URL('../../../', import.meta.url);
    const { scripts } = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));
    const service = await spawnService({
      ...{ main: '/bin/sh', runs: 'itself', args: ['-c', `exec ${scripts.dev}`], cwd: fileURLToPath(root) },
      env: env({ PATH: dirname(process.execPath) }),
      ready: { line: /Ctrl-C stops it/ },
    });
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });
});

describe('a data folder', () => {
  it('that another process uses is refused, with who it is; the other one goes on, and once it is killed it is free', async () => {
    const first = await running();
    const second = await startAndEnd([]);
    expect(second.code).toBe(1);
    expect(second.err).toContain(`the data folder ${folder.path} is in use by process ${first.pid}`);
    expect((await get(`${await urlOf(first)}/readyz`)).status).toBe(200);
    await first.kill();
    const third = await running();
    expect((await get(`${await urlOf(third)}/readyz`)).status).toBe(200);
    await third.stop();
  });

  it('that cannot be made is said', async () => {
    const { code, err } = await startAndEnd(['--data-dir', `${MAIN}/below-a-file`]);
    expect(code).toBe(1);
    expect(err).toContain(`${MAIN}/below-a-file`);
  });
});

describe('what it is told', () => {
  it('--help explains every option and ends with 0', async () => {
    const { code, out, err } = await startAndEnd(['--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^Usage: \S+[ /]start \[options\]/);
    expect(out).toContain('--data-dir');
  });

  it('an unknown option is refused with 2, and the one that was meant', async () => {
    const { code, err } = await startAndEnd(['--prot', '7000']);
    expect(code).toBe(2);
    expect(err).toContain('there is no option --prot; did you mean --port?');
  });

  it.each(['ingest', 'worker', 'search', 'console'] as const)(
    '%s takes no options, and says how it is told',
    async (app) => {
      const { code, err } = await startAndEnd(['--data-dir', folder.path], env(), programFile(app));
      expect(code).toBe(2);
      expect(err).toContain('expected no arguments, got --data-dir');
      expect(err).toContain('set SLOWWAVE_DATA_DIR');
    },
  );

  it('bad settings are refused with 2, all at once', async () => {
    const { code, err } = await startAndEnd(
      ['--port', 'x'],
      env({ SLOWWAVE_CONCURRENCY: '0', OPENAI_BASE_URL: 'ftp:/x' }),
    );
    expect(code).toBe(2);
    expect(err).toContain('SLOWWAVE_PORT: ');
    expect(err).toContain('SLOWWAVE_CONCURRENCY: ');
    expect(err).toContain('OPENAI_BASE_URL: ');
  });

  it('a host beyond this machine is refused without a key', async () => {
    const { code, err } = await startAndEnd(['--host', '0.0.0.0']);
    expect(code).toBe(1);
    expect(err).toContain('set SLOWWAVE_API_KEY to a secret, create a key with');
  });

  it('with a key, callers need it', async () => {
    const key = 'a-key-of-enough-letters';
    const service = await running(env({ SLOWWAVE_API_KEY: key }));
    const url = await urlOf(service);
    expect(service.output()).not.toContain(key);
    expect((await post(`${url}/v1/search`, { user_id: 'ana', query: 'x' })).status).toBe(401);
    const headers = { authorization: `Bearer ${key}` };
    expect((await post(`${url}/v1/search`, { user_id: 'ana', query: 'x' }, headers)).status).toBe(200);
    await service.stop();
  });

  it('a port that is taken is said, with what to do', async () => {
    const first = await running();
    const { port } = new URL(await urlOf(first));
    const other = await tempDir();
    const { code, err } = await startAndEnd(['--port', port, '--data-dir', other.path]);
    expect(code).toBe(1);
    expect(err).toContain(`port ${port} on 127.0.0.1 is already in use`);
    await first.stop();
    await other.remove();
  });

  it('a Redis that is not there is said, and nothing takes its place', async () => {
    const { code, err } = await startAndEnd(['--redis-url', 'redis://127.0.0.1:1']);
    expect(code).toBe(1);
    expect(err).toContain('expected the queue at redis://127.0.0.1:1 to answer');
  });
});

describe('SIGTERM', () => {
  it('is told to proxies first: requests are answered until the time for that is over', async () => {
    const service = await running(env({ SLOWWAVE_DRAIN_MS: '3000' }));
    const url = await urlOf(service);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    process.kill(service.pid, 'SIGTERM');
    for (let ready = 200; ready === 200; ) ({ status: ready } = await fetch(`${url}/readyz`));
    expect((await get(`${url}/readyz`)).body.checks.process).toMatchObject({
      ok: false,
      message: expect.stringContaining('shutting down'),
    });
    expect((await post(`${url}/v1/batches`, said('ann', 'I live in Oslo.'))).status).toBe(202);
    expect(await service.waitForExit()).toMatchObject({ code: 0 });
  });
});
