import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { freePort, type Service, type ServiceOptions, spawnService, type TempDir, tempDir } from '../src/index.ts';

let folder: TempDir;
beforeEach(async () => {
  folder = await tempDir();
});
afterEach(() => folder.remove());

/** Starts a program of these lines. */
async function run(code: string, options: Partial<ServiceOptions> = {}): Promise<Service> {
  const main = join(folder.path, 'main.ts');
  await writeFile(main, code);
  return spawnService({ main, ...options });
}

const STAYS = 'setInterval(() => {}, 1000);';
const ended = (pid: number): boolean => {
  try {
    return !process.kill(pid, 0);
  } catch {
    return true;
  }
};

test('waits for a line, passes arguments and only the given environment, and collects both streams', async () => {
  const code = `console.error(JSON.stringify([process.argv[2], process.env.KEY, process.env.PATH ?? null]));
    setTimeout(() => console.log('listening now'), 200); ${STAYS}`;
  const service = await run(code, { args: ['--port'], env: { KEY: 'v' }, ready: { line: /listening/u } });
  expect(service.output()).toContain('listening now');
  expect(await service.waitForLine(/--port/u)).toBe('["--port","v",null]');
  expect(await service.stop()).toEqual({ code: null, signal: 'SIGTERM' });
  expect(ended(service.pid)).toBe(true);
});

test('waits until a url answers, and lets the program end its own way', async () => {
  const port = await freePort();
  const code = `import { createServer } from 'node:http';
    let asked = 0;
    createServer((_, response) => { response.statusCode = (asked += 1) > 1 ? 200 : 503; response.end(); }).listen(${port}, '127.0.0.1');
    process.on('SIGTERM', () => process.exit(7));`;
  const service = await run(code, { ready: { url: `http://127.0.0.1:${port}/readyz` } });
  expect(await service.stop()).toEqual({ code: 7, signal: null });
});

test('kills without warning', async () => {
  const service = await run(`process.on('SIGTERM', () => {}); ${STAYS}`);
  expect(await service.kill()).toEqual({ code: null, signal: 'SIGKILL' });
});

test('a program that ends before it is ready fails the start, with its output', async () => {
  const start = run(`console.log('no settings'); process.exit(3);`, { ready: { line: /listening/u } });
  await expect(start).rejects.toThrow(/the process ended \(exit code 3.*no settings/su);
});

test('a program that never gets ready fails the start and is ended', async () => {
  const start = run(`console.log('pid', process.pid); ${STAYS}`, { ready: { line: /never/u }, readyWithinMs: 500 });
  const message = await start.then(String, String);
  expect(message).toMatch(/within 500 ms/u);
  expect(ended(Number(/pid (\d+)/u.exec(message)?.[1]))).toBe(true);
});

test('a program that ended by itself fails the stop', async () => {
  const service = await run(`console.log('oops'); setTimeout(() => process.exit(1), 50);`, {
    ready: { line: /oops/u },
  });
  await expect(service.waitForLine(/more/u)).rejects.toThrow(/the process ended/u);
  await expect(service.stop()).rejects.toThrow(/ended by itself.*oops/su);
});

test('an exit that was waited for is no failure', async () => {
  const service = await run(`setTimeout(() => process.exit(137), 50);`);
  expect(await service.waitForExit()).toEqual({ code: 137, signal: null });
  expect(await service.stop()).toEqual({ code: 137, signal: null });
});

test('a program that ignores SIGTERM fails the stop and is killed', async () => {
  const code = `process.on('SIGTERM', () => {}); console.log('up'); ${STAYS}`;
  const service = await run(code, { ready: { line: /up/u }, stopWithinMs: 300 });
  await expect(service.stop()).rejects.toThrow(/did not end within 300 ms of SIGTERM/u);
  expect(ended(service.pid)).toBe(true);
});
