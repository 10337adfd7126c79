import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { tempDir } from '@slowwave/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PublishedFile } from './known.ts';
import { download } from './model.ts';

const CONTENT = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7 + (i >> 8)) % 251));
const FILE: PublishedFile = {
  name: 'model.onnx',
  from: 'maker/model/resolve/abc/onnx/model.onnx',
  bytes: CONTENT.length,
  sha256: createHash('sha256').update(CONTENT).digest('hex'),
};
const NEVER = new AbortController().signal;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let folder: Awaited<ReturnType<typeof tempDir>>;
let hub: string;
let handler: Handler;
let ranges: (string | undefined)[];
const server = createServer((request, response) => {
  ranges.push(request.headers.range);
  handler(request, response);
});

beforeEach(async () => {
  folder = await tempDir();
  ranges = [];
  handler = whole;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  hub = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hub`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await folder.remove();
});

const whole: Handler = (_, response) => void response.end(CONTENT);
const withRanges: Handler = ({ headers }, response) => {
  const from = Number(/bytes=(\d+)-/.exec(headers.range ?? '')?.[1] ?? 0);
  if (from > 0) response.writeHead(206);
  response.end(CONTENT.subarray(from));
};
/** Sends a part, and hangs up when that has arrived. */
const broken: Handler = (_, response) => {
  response.writeHead(200, { 'content-length': CONTENT.length });
  response.write(CONTENT.subarray(0, 100_000));
  hangUp = () => response.destroy();
};
let hangUp: () => void;

const fetched = (file: PublishedFile = FILE, onProgress: (done: number, total: number) => void = () => {}) =>
  download({ files: [file], folder: folder.path, hub, onProgress, signal: NEVER });
const content = () => readFile(join(folder.path, FILE.name));
const names = async () => (await readdir(folder.path)).filter((name) => name !== 'download.lock');

test('a file is there once it is whole, and how far it is was told', async () => {
  const told: number[] = [];
  await fetched(FILE, (done, total) => told.push(done / total));
  expect((await content()).equals(CONTENT)).toBe(true);
  expect(told.at(-1)).toBe(1);
  expect(told).toEqual([...told].sort((a, b) => a - b));
});

test('an interrupted download goes on where it was, and nothing looks finished before', async () => {
  handler = broken;
  await expect(fetched(FILE, (done) => done > 0 && hangUp())).rejects.toThrow();
  expect(await names()).toEqual(['model.onnx.part']);
  handler = withRanges;
  await fetched();
  expect((await content()).equals(CONTENT)).toBe(true);
  const [, resumed] = ranges;
  expect(resumed).toMatch(/^bytes=[1-9]\d*-$/);
  expect(await names()).toEqual(['model.onnx']);
});

test('a server that cannot send the rest alone sends everything again', async () => {
  await writeFile(join(folder.path, 'model.onnx.part'), CONTENT.subarray(0, 5_000));
  await fetched();
  expect((await content()).equals(CONTENT)).toBe(true);
});

test('what is there already is not asked for, and what was changed since is', async () => {
  await fetched();
  await fetched();
  expect(ranges).toHaveLength(1);
  await writeFile(join(folder.path, FILE.name), Buffer.alloc(CONTENT.length));
  await fetched();
  expect((await content()).equals(CONTENT)).toBe(true);
});

test.each([
  ['as long', Buffer.alloc(CONTENT.length)],
  ['shorter', CONTENT.subarray(0, 1_000)],
  ['longer', Buffer.concat([CONTENT, CONTENT])],
])('another file, %s, is discarded, and what to do is said', async (_, other) => {
  handler = (_request, response) => void response.end(other);
  await expect(fetched()).rejects.toThrow(/SHA-256.*it was discarded.*SLOWWAVE_MODEL_HUB_URL/s);
  expect(await names()).toEqual([]);
});

test('a server that refuses is named with its status', async () => {
  handler = (_, response) => void response.writeHead(404).end('nothing');
  await expect(fetched()).rejects.toThrow(`expected ${hub}/${FILE.from} to send the file, got status 404`);
});

test('a file that the disk has no room for is not begun', async () => {
  await expect(fetched({ ...FILE, bytes: 2 ** 60 })).rejects.toThrow(
    /needs \d+ MB for it and has \d+ MB free; free some space/,
  );
  expect(ranges).toEqual([]);
});

test('two processes do not write the same file', async () => {
  const asked = Promise.withResolvers<void>();
  handler = (request, response) => void asked.promise.then(() => whole(request, response));
  const both = [fetched(), fetched()];
  // Whichever comes second ends while the other one waits for its first byte.
  await expect(Promise.race(both)).rejects.toThrow(`process ${process.pid} is downloading it`);
  asked.resolve();
  const ended = await Promise.allSettled(both);
  expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect((await content()).equals(CONTENT)).toBe(true);
});

test('a folder that is not there yet is made', async () => {
  await mkdir(join(folder.path, 'a'));
  const deep = join(folder.path, 'a/b/c');
  await download({ files: [FILE], folder: deep, hub, onProgress: () => {}, signal: NEVER });
  expect((await readFile(join(deep, FILE.name))).equals(CONTENT)).toBe(true);
});
