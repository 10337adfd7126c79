import { freePort, type ModelServer, programFile, spawnService, startModelServer, tempDir } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { get, post, quiet, said } from './client.ts';
import { fourProcesses, type OpenSetup, type Setup, searchAndWorker, standalone } from './setups.ts';

/** On a machine that does other things too. */
const WITHIN_MS = 60_000;

/** Searches one after the other, over a longer time than the state of the index is believed. */
const SETTLED = 10;

let port: number;
let setup: Setup | null = null;
let model: ModelServer | null = null;
beforeEach(async () => {
  port = await freePort();
});
afterEach(async () => {
  await setup?.close();
  await model?.close();
  [setup, model] = [null, null];
});

const open = async (way: OpenSetup): Promise<Setup> => {
  setup = await way({ SLOWWAVE_EMBEDDING_BASE_URL: `http://127.0.0.1:${port}/v1`, SLOWWAVE_EMBEDDING_MODEL: 'emb' });
  return setup;
};
const comeBack = async (): Promise<ModelServer> => {
  model = await startModelServer({ port, dimensions: 64 });
  return model;
};
const write = ({ console: base }: Setup, memory: string) => post(`${base}/v1/memories`, { memory, user_id: 'ana' });
const embedded = (server: ModelServer): string[] => server.embeddingCalls.flatMap(({ texts }) => [...texts]);
const search = async ({ search: base }: Setup, query: string, more: object = {}) => {
  const { status, body } = await post(`${base}/v1/search`, { user_id: 'ana', query, ...more });
  const texts: string[] = (body.results ?? []).map(({ memory }: { memory: string }) => memory);
  return { status, degraded: body.degraded ?? null, texts };
};

describe.each([
  ['one process', standalone, standalone],
  ['four processes', fourProcesses, searchAndWorker],
])('an embedding server that is away at the start of %s', (_, way, searching) => {
  it(
    'delays vectors and nothing else, where nobody knows yet how long they are; later nothing is embedded twice',
    async () => {
      const at = await open(way);
      const posted = await post(`${at.ingest}/v1/batches`, {
        ...said('ana', 'I like black tea'),
        mode: 'verbatim',
        flush: true,
      });
      expect(posted.status).toBe(202);
      expect(await write(at, 'User has a green bicycle')).toMatchObject({ status: 201, body: { searchable: 'words' } });
      const byWords = await search(at, 'green bicycle');
      expect(byWords).toMatchObject({ status: 200, texts: ['User has a green bicycle'] });
      expect(byWords.degraded).not.toBeNull();
      const server = await comeBack();
      expect(await quiet(at.search, WITHIN_MS)).toMatchObject({ consolidated: 1, parked: 0, gap: 0 });
      const byMeaning = () => search(at, 'I like black tea', { mode: 'vector' });
      await expect.poll(byMeaning, { timeout: WITHIN_MS }).toMatchObject({ status: 200, degraded: null });
      const found = async () => (await search(at, 'green bicycle', { mode: 'vector', cut: 'none' })).texts.toSorted();
      await expect.poll(found, { timeout: WITHIN_MS }).toEqual(['I like black tea', 'User has a green bicycle']);
      expect((await get(`${at.search}/v1/stats`)).body.outbox).toBe(0);

      // A start without it changes nothing in an index that has its vectors.
      expect(embedded(server)).toContain('User has a green bicycle');
      await at.stop();
      await server.close();
      await at.start();
      expect(await search(at, 'green bicycle')).toMatchObject({ status: 200, texts: ['User has a green bicycle'] });
      const again = await comeBack();
      await expect.poll(byMeaning, { timeout: WITHIN_MS }).toMatchObject({ status: 200, degraded: null });
      expect(await found()).toEqual(['I like black tea', 'User has a green bicycle']);
      expect(embedded(again), 'the questions alone').not.toContain('User has a green bicycle');
    },
    6 * WITHIN_MS,
  );

  it(
    'keeps nobody from searching when the server is back, also where nothing was said',
    async () => {
      const at = await open(searching);
      expect(await search(at, 'green bicycle')).toMatchObject({ status: 200, texts: [] });
      await comeBack();
      const states: { status: number; degraded: unknown }[] = [];
      const searched = async () => {
        states.push(await search(at, 'green bicycle'));
        return states.slice(-SETTLED);
      };
      const whole = Array.from({ length: SETTLED }, () => ({ status: 200, degraded: null, texts: [] }));
      await expect.poll(searched, { interval: 200, timeout: WITHIN_MS }).toEqual(whole);
      expect(states.filter(({ status }) => status !== 200)).toEqual([]);
    },
    2 * WITHIN_MS,
  );
});

it('a server without embeddings ends the first start with one sentence that says what to do', async () => {
  const server = await comeBack();
  server.setEmbeddingScript(() => ({ status: 404, body: 'Not Found' }));
  const folder = await tempDir();
  try {
    const service = await spawnService({
      main: programFile('standalone'),
      env: {
        SLOWWAVE_PORT: String(await freePort()),
        SLOWWAVE_DATA_DIR: folder.path,
        SLOWWAVE_EMBEDDING_BASE_URL: server.baseUrl,
        SLOWWAVE_EMBEDDING_MODEL: 'emb',
      },
    });
    expect((await service.waitForExit()).code).toBe(1);
    expect(service.output()).toMatch(/expected embeddings from .* got status 404 .*SLOWWAVE_EMBEDDING_MODEL=local/);
  } finally {
    await folder.remove();
  }
});
