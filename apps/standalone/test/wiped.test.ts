import { glob, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  answers,
  echoExtractor,
  keyedDecider,
  programFile,
  spawnService,
  startModelServer,
  startRedis,
} from '@slowwave/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { done, get, post, quiet, said } from './client.ts';
import { type Setup, standalone } from './setups.ts';

/** On a machine that does other things too. */
const WITHIN_MS = 120_000;

let setup: Setup | null = null;
afterEach(async () => {
  await setup?.close();
  setup = null;
});

describe('Redis wiped', () => {
  const BATCHES = 150;
  const USERS = 50;
  const AT_ONCE = 20;
  const texts = Array.from({ length: BATCHES }, (_, i) => ({
    user: `user-${i % USERS}`,
    text: `thing ${Math.floor(i / USERS)} of user-${i % USERS} is set`,
  }));

  it(
    'with 150 batches waiting: all of them are consolidated without any action, each once',
    async () => {
      const redis = await startRedis();
      const gate = Promise.withResolvers<void>();
      const script = answers({ extract_facts: echoExtractor(), decide_operations: keyedDecider((text) => text) });
      const model = await startModelServer({ script: (call) => gate.promise.then(() => script(call)) });
      setup = await standalone({
        REDIS_URL: redis.url,
        OPENAI_BASE_URL: model.baseUrl,
        SLOWWAVE_EMBEDDING_MODEL: 'builtin',
        SLOWWAVE_TAKE_OVER_MS: '2000',
      });
      const { ingest, search } = setup;
      for (let i = 0; i < BATCHES; i += AT_ONCE) {
        await Promise.all(
          texts.slice(i, i + AT_ONCE).map(({ user, text }) => post(`${ingest}/v1/batches`, said(user, text))),
        );
      }
      const { pending, consolidating, accepted } = (await get(`${search}/v1/stats`)).body.batches;
      expect({ accepted, waiting: pending + consolidating }).toEqual({ accepted: BATCHES, waiting: BATCHES });
      await redis.wipe();
      gate.resolve();
      const counts = await quiet(search, WITHIN_MS);
      expect(counts).toMatchObject({ accepted: BATCHES, consolidated: BATCHES, parked: 0, gap: 0 });
      for (let i = 0; i < USERS; i += 1) {
        const { body } = await get(`${search}/v1/memories?user_id=user-${i}&limit=100`);
        const mine = texts.filter(({ user }) => user === `user-${i}`).map(({ text }) => text);
        expect(body.results.map((memory: { memory: string }) => memory.memory).sort()).toEqual(mine.sort());
      }
      await model.close();
      await redis.stop();
    },
    WITHIN_MS * 2,
  );
});

interface Found {
  readonly id: string;
  readonly memory: string;
  readonly version: number;
  readonly score: number;
  readonly scores: { readonly vector: number | null; readonly keyword: number | null; readonly relative: number };
}

describe('the index wiped', () => {
  const QUERIES = ['where does she live?', 'what does she drink', 'her cat', 'work', 'Oslo', '她住在哪里'];
  const ask = async (base: string): Promise<Found[][]> =>
    Promise.all(
      QUERIES.map(async (query) => {
        const { body } = await post(`${base}/v1/search`, { user_id: 'ana', query, include: ['scores'], cut: 'none' });
        expect(body.degraded).toBeUndefined();
        return body.results.map(({ id, memory, version, score, scores }: Found) => ({
          id,
          memory,
          version,
          score,
          scores,
        }));
      }),
    );
  /** The same raw scores. What is younger ranks higher, and all is seconds older by the second time. */
  const again = (found: Found) => ({
    ...found,
    score: expect.closeTo(found.score, 3),
    scores: { ...found.scores, relative: expect.closeTo(found.scores.relative, 3) },
  });
  const fill = async ({ ingest, search }: Setup): Promise<void> => {
    const texts = ['I live in Lisbon', 'I drink green tea', 'My cat is called Rex', 'I work as a pilot', '我住在上海'];
    for (const text of [...texts, 'Actually I live in Oslo now']) {
      await done(post(`${ingest}/v1/batches?wait=60000`, { ...said('ana', text), flush: true }));
    }
    await quiet(search);
  };
  const caughtUp = (search: string): Promise<void> =>
    expect.poll(async () => (await get(`${search}/v1/stats`)).body.outbox, { timeout: WITHIN_MS }).toBe(0);
  const wipe = async (dataDir: string): Promise<void> => {
    for await (const file of glob(join(dataDir, 'index.db*'))) await rm(file);
  };
  const rebuild = async (dataDir: string): Promise<void> => {
    const main = programFile('cli');
    const command = await spawnService({ main, args: ['rebuild', 'index', '--data-dir', dataDir] });
    expect(await command.waitForExit()).toEqual({ code: 0, signal: null });
  };

  it.each([
    ['is filled at the next start', async () => {}],
    ['is there again after one command', rebuild],
  ])('%s: searches find what they found before, with the same scores', async (_how, mend) => {
    setup = await standalone();
    await fill(setup);
    const before = await ask(setup.search);
    expect(before.flat().length).toBeGreaterThan(QUERIES.length);
    await setup.stop();
    await wipe(setup.dataDir);
    await mend(setup.dataDir);
    await setup.start();
    await caughtUp(setup.search);
    expect(await ask(setup.search)).toEqual(before.map((results) => results.map(again)));
  });
});
