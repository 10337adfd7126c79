import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TempDir, tempDir } from '@slowwave/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { closeThreads, startThread } from '../src/system/system.ts';

const SCRIPT = new URL('./leaving-thread.ts', import.meta.url);

let folder: TempDir;
beforeEach(async () => {
  folder = await tempDir();
});
afterEach(() => folder.remove());

const note = (name: string): string => join(folder.path, name);
const start = (name: string, fails = false) => startThread(SCRIPT, { note: note(name), fails });
/** What a thread wrote when it left; one that is stopped by force writes nothing. */
const left = (name: string): Promise<string> => readFile(note(name), 'utf8');

test('a thread that is closed answers what it was asked, closes what it has open, and leaves by itself', async () => {
  const thread = await start('one');
  const answer = thread.call('slow', 'yes');
  await Promise.all([thread.close(), thread.close()]);
  expect(await answer).toBe('yes');
  expect(await left('one')).toBe('closed, left');
  await expect(thread.call('slow', 'too late')).rejects.toThrow('the thread has ended');
});

test('a thread that cannot be set up says why and leaves by itself', async () => {
  await expect(start('broken', true)).rejects.toThrow('no such luck');
  expect(await left('broken')).toBe('left');
});

test('a process that is about to end closes all of its threads, those included that only just start', async () => {
  await start('ready');
  const starting = start('starting');
  const ending = closeThreads();
  await Promise.all([starting, ending]);
  expect([await left('ready'), await left('starting')]).toEqual(['closed, left', 'closed, left']);
});
