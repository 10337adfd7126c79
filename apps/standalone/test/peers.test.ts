import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ModelServer,
  programFile,
  type Service,
  spawnService,
  startModelServer,
  type TempDir,
  tempDir,
} from '@slowwave/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { call, done, found, get, post, quiet, said } from './client.ts';

/** How other memory servers leak, lock up and break, as their code and threads tell. None of it happens here. */

const MAIN = programFile('standalone');
const RECORDER = new URL('record-connections.ts', import.meta.url);

let folder: TempDir;
let service: Service | null = null;
const place = async (): Promise<void> => {
  folder = await tempDir();
  await writeFile(connections(), '');
};
const leave = async (): Promise<void> => {
  await service?.kill();
  service = null;
  await folder.remove();
};
/** Where it is written down whom the server connects to. */
const connections = (): string => join(folder.path, 'connections');

/** Starts it; answers with its URL. */
async function start(env: Readonly<Record<string, string>> = {}): Promise<string> {
  const own = { SLOWWAVE_DATA_DIR: folder.path, SLOWWAVE_PORT: '0', SLOWWAVE_BATCH_IDLE_MS: '200' };
  const watched = { CONNECTIONS_FILE: connections(), NODE_OPTIONS: `--import=${RECORDER}` };
  service = await spawnService({
    main: MAIN,
    env: { ...own, ...watched, ...env },
    ready: { line: /Ctrl-C stops it/ },
  });
  return (await service.waitForLine(/listening on/)).replace(/^.*listening on /, '');
}

async function stop(): Promise<void> {
  await service?.stop();
  service = null;
}

const flushed = (userId: string, ...contents: string[]) => ({ ...said(userId, ...contents), flush: true });

describe('a server', () => {
  let url: string;
  beforeAll(async () => {
    await place();
    url = await start();
  });
  afterAll(leave);

  describe('mem0 #6277, #6342, #6655: metadata with a user_id in it makes a memory another user’s', () => {
    it('here it is only metadata, in batches, explicit writes and changes', async () => {
      const metadata = { user_id: 'bob', agent_id: 'bob', tenant: 'bob' };
      await done(post(`${url}/v1/batches?wait=60000`, { ...flushed('ana', 'I live in Oslo'), metadata }));
      const added = await post(`${url}/v1/memories`, { user_id: 'ana', memory: 'Likes green tea', metadata });
      await done(call('PATCH', `${url}/v1/memories/${added.body.id}`, { body: { metadata: { user_id: 'carl' } } }));
      for (const other of ['bob', 'carl']) {
        expect(await found(url, other, 'Oslo tea')).toEqual([]);
        expect((await get(`${url}/v1/memories?user_id=${other}`)).body.results).toEqual([]);
      }
      expect(await found(url, 'ana', 'Oslo tea')).toHaveLength(2);
      const { body } = await get(`${url}/v1/users`);
      expect(body.results.map(({ id }: { id: string }) => id)).not.toContain('bob');
    });
  });

  describe('mem0 #7196: "database is locked" when another process writes', () => {
    it('here whoever posts waits, and is acknowledged', async () => {
      const db = new DatabaseSync(join(folder.path, 'ledger.db'));
      db.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
      const HELD_MS = 1_500;
      const posting = Promise.all(
        Array.from({ length: 5 }, (_, i) => post(`${url}/v1/batches`, flushed(`locked-${i}`, 'I live in Oslo'))),
      );
      await sleep(HELD_MS);
      db.exec('ROLLBACK');
      db.close();
      expect((await posting).map(({ status }) => status)).toEqual([202, 202, 202, 202, 202]);
      expect(await quiet(url)).toMatchObject({ parked: 0, gap: 0 });
    });
  });

  describe('mem0 #6515, #6531: eight equal additions at once become eight copies', () => {
    it('here they become one memory', async () => {
      await Promise.all(Array.from({ length: 8 }, () => post(`${url}/v1/batches`, said('eight', 'I live in Oslo'))));
      expect(await quiet(url)).toMatchObject({ gap: 0 });
      expect((await get(`${url}/v1/memories?user_id=eight`)).body.results).toHaveLength(1);
    });
  });

  describe('mem0 #2285, #3729: telemetry that nobody asked for, and that holds things up', () => {
    it('here a process without a model connects to nobody', async () => {
      await done(post(`${url}/v1/batches?wait=60000`, flushed('silent', 'I live in Oslo')));
      expect(await found(url, 'silent', 'home')).toHaveLength(1);
      expect(await readFile(connections(), 'utf8')).toBe('');
    });
  });
});

describe('a server with settings', () => {
  beforeEach(place);
  afterEach(leave);

  describe('mem0 #3375, #6080: a server that answers whoever asks', () => {
    it('here every route of the description refuses a caller without the key', async () => {
      const key = 'a-key-of-enough-letters';
      const url = await start({ SLOWWAVE_API_KEY: key });
      const { body } = await call('GET', `${url}/openapi.json`, { headers: { authorization: `Bearer ${key}` } });
      const routes = Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x')] as const),
      );
      expect(routes.length).toBeGreaterThan(20);
      const open = [];
      for (const [method, path] of routes) {
        const { status } = await call(method, `${url}${path}`, method === 'GET' ? {} : { body: {} });
        if (status !== 401) open.push(`${method} ${path}: ${status}`);
      }
      expect(open.sort()).toEqual(['GET /healthz: 200', 'GET /readyz: 200']);
    });
  });

  describe('mem0 #1575, #4173, #4212, #4695: another embedder breaks the collection', () => {
    it('here the index is made anew from the ledger, and everything is found and added as before', async () => {
      const model = await startModelServer();
      let url = await start(embedding(model, '64'));
      await done(post(`${url}/v1/batches?wait=60000`, flushed('ana', 'I live in Oslo', 'I like green tea')));
      const before = (await found(url, 'ana', 'where does she live?')).sort();
      expect(before).toHaveLength(2);
      await stop();
      url = await start(embedding(model, '96'));
      await done(post(`${url}/v1/batches?wait=60000`, flushed('ana', 'Actually I live in Bergen now')));
      await quietIndex(url);
      const after = await found(url, 'ana', 'where does she live?');
      expect(after).toHaveLength(2);
      expect(after.join()).toContain('Bergen');
      expect(after.join()).not.toContain('Oslo');
      await stop();
      await model.close();
    });
  });

  describe('mem0 #2285, #3729: telemetry', () => {
    it('here a process with a model connects to that alone', async () => {
      const model = await startModelServer();
      const url = await start(embedding(model, '64'));
      await done(post(`${url}/v1/batches?wait=60000`, flushed('ana', 'I live in Oslo')));
      const places = (await readFile(connections(), 'utf8')).trim().split('\n');
      expect(places.filter((one) => !one.includes(new URL(model.url).port))).toEqual([]);
      expect(places.length).toBeGreaterThan(0);
      await stop();
      await model.close();
    });
  });
});

const embedding = (model: ModelServer, dimensions: string) => ({
  OPENAI_BASE_URL: model.baseUrl,
  SLOWWAVE_CHAT_MODEL: 'builtin',
  SLOWWAVE_EMBEDDING_MODEL: 'scripted',
  SLOWWAVE_EMBEDDING_DIMENSIONS: dimensions,
});

/** Everything was told to the index. */
async function quietIndex(url: string): Promise<void> {
  await expect.poll(async () => (await get(`${url}/v1/stats`)).body.outbox).toBe(0);
}
