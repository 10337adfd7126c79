import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tempDir } from '@slowwave/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LocalModel } from './model.ts';
import { localRunner, type Runner } from './open.ts';

const NEVER = new AbortController().signal;
const MODEL: LocalModel = {
  name: 'tiny',
  dimensions: 2,
  fingerprint: 'local:tiny:2:abc',
  prefixes: { query: '', document: '' },
  init: { model: 'model.onnx', tokenizer: 'tokenizer.json', pooling: 'mean', maxTokens: 8, dimensions: 2 },
};
const HOST = new URL('../system/thread-host.ts', import.meta.url);

let folder: Awaited<ReturnType<typeof tempDir>>;
let runner: Runner | null;
let logged: string[];
beforeEach(async () => {
  folder = await tempDir();
  runner = null;
  logged = [];
});
afterEach(async () => {
  await runner?.close();
  await folder.remove();
});

const note = (fields: object, message: string): void => void logged.push(`${message} ${JSON.stringify(fields)}`);
const log = { debug: () => {}, info: note, warn: note, error: note };

/** A runner whose thread runs this script. */
async function running(script: string, prepare: Parameters<typeof localRunner>[0]['prepare'] = async () => {}) {
  const path = join(folder.path, 'thread.mjs');
  await writeFile(path, script);
  runner = localRunner({ model: MODEL, prepare, log, thread: pathToFileURL(path) });
  return runner;
}

/** A thread that answers with the lengths of texts, and ends when it is asked for "end". */
const LENGTHS = `
  import { hostThread, methodHost } from '${HOST.href}';
  hostThread(() => methodHost({ embed: (texts) => {
    if (texts.includes('end')) process.exit(1);
    if (texts.includes('bad')) throw new Error('bad text');
    return { vectors: texts.map((text) => Float32Array.of(text.length, 0)), tokens: texts.length };
  } }, () => {}));`;

test('a package that is not installed is named with the command that installs it, and only then', async () => {
  const { embed } = await running("import 'a-package-that-nobody-installs';");
  const failure = embed(['hello'], NEVER);
  await expect(failure).rejects.toMatchObject({
    code: 'model_misconfigured',
    countsAsTry: false,
    retryAfterMs: 30_000,
  });
  await expect(failure).rejects.toThrow(
    /tiny cannot be loaded: .*not installed; start with \.\/scripts\/start --embedding-model local/,
  );
  expect(logged).toHaveLength(1);
});

test('a full disk is reported as one', async () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const { embed } = await running(LENGTHS, () => Promise.reject(full));
  await expect(embed(['hello'], NEVER)).rejects.toThrow(/the disk is full .*free some space/);
});

test('while files are downloaded nobody waits for them, and who asks for the model does', async () => {
  const downloaded = Promise.withResolvers<void>();
  const { embed, ready } = await running(LENGTHS, async (onProgress) => {
    onProgress(40, 100);
    await downloaded.promise;
  });
  const told: number[] = [];
  const loaded = ready((done) => told.push(done));
  await expect(embed(['hello'], NEVER)).rejects.toThrow('the embedding model tiny is being downloaded (40%)');
  downloaded.resolve();
  await loaded;
  expect(told).toEqual([40]);
  expect((await embed(['hello'], NEVER)).vectors).toEqual([Float32Array.of(5, 0)]);
});

test('a thread that has ended is started again by the next call', async () => {
  const { embed } = await running(LENGTHS);
  await expect(embed(['end'], NEVER)).rejects.toMatchObject({ code: 'model_server_error', retryable: true });
  await expect.poll(() => embed(['hello'], NEVER).catch(() => null)).not.toBeNull();
});

test('a text that the model fails on fails alone', async () => {
  const { embed } = await running(LENGTHS);
  await expect(embed(['bad'], NEVER)).rejects.toThrow('the embedding model tiny failed: bad text');
  expect((await embed(['good'], NEVER)).tokens).toBe(1);
});

test('one that is closed while it downloads ends the download', async () => {
  const { ready, close } = await running(
    LENGTHS,
    (_, signal) => new Promise((_done, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  const loading = ready(() => {});
  await close();
  await expect(loading).rejects.toThrow('it is being closed');
  expect(logged).toEqual([]);
});
