import { join } from 'node:path';
import { openSqliteIndex } from '@slowwave/adapters/sqlite';
import { type ModelServer, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { call, get, post, quiet, said } from './client.ts';
import { fourProcesses, type OpenSetup, type Setup, standalone } from './setups.ts';

/** On a machine that does other things too. */
const WITHIN_MS = 90_000;
const WITHIN = { timeout: WITHIN_MS, interval: 250 };
/** Two pages of the walk, and three calls of the embedder for each. */
const MEMORIES = 60;
const USERS = ['ana', 'bob', 'eve'];
const TOPICS = ['tea', 'piano', 'bicycle', 'garden', 'chess', 'opera', 'bread', 'canoe', 'violin', 'desert'];

const factOf = (user: string, n: number): string =>
  `The ${TOPICS[n % TOPICS.length]} number ${n} of ${user} is kept in room ${n * 7 + 3}`;
const FACT = /^The \w+ number /;
const questionOf = (n: number): string => `Where is ${TOPICS[n % TOPICS.length]} number ${n}?`;

let model: ModelServer;
let setup: Setup | null = null;
let env: Record<string, string>;
beforeEach(async () => {
  model = await startModelServer({ dimensions: 64 });
  env = { SLOWWAVE_EMBEDDING_BASE_URL: model.baseUrl, SLOWWAVE_EMBEDDING_MODEL: 'old-model' };
});
afterEach(async () => {
  await setup?.close();
  await model.close();
  setup = null;
});

const NEXT = () => ({
  SLOWWAVE_NEXT_EMBEDDING_BASE_URL: model.baseUrl,
  SLOWWAVE_NEXT_EMBEDDING_MODEL: 'new-model',
  SLOWWAVE_NEXT_EMBEDDING_DIMENSIONS: '256',
});

/** Texts that a model was asked for, each as often as it was. */
function embedded(name: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { request, texts } of model.embeddingCalls) {
    if (request.model !== name) continue;
    for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return counts;
}
/** Facts that it was asked for more than once. */
const twice = (name: string): string[] =>
  [...embedded(name)].filter(([text, count]) => FACT.test(text) && count > 1).map(([text]) => text);

const move = async ({ console: base }: Setup) => (await get(`${base}/v1/index/move`)).body.move;
const state = async (at: Setup): Promise<string | null> => (await move(at))?.state ?? null;
const patch = ({ console: base }: Setup, body: object) => call('PATCH', `${base}/v1/index/move`, { body });
const start = ({ console: base }: Setup, body: object = {}) => post(`${base}/v1/index/move`, body);

async function search({ search: base }: Setup, user: string, n: number) {
  const { status, body } = await post(`${base}/v1/search`, {
    user_id: user,
    query: questionOf(n),
    top_k: 10,
    cut: 'none',
  });
  const texts: string[] = (body.results ?? []).map(({ memory }: { memory: string }) => memory);
  return { status, degraded: body.degraded ?? null, hit: texts.includes(factOf(user, n)) };
}

async function seed(at: Setup, from = 0, to = MEMORIES): Promise<void> {
  for (let n = from; n < to; n += 1) {
    const user = USERS[n % USERS.length] ?? 'ana';
    const posted = await post(`${at.ingest}/v1/batches`, {
      ...said(user, factOf(user, n)),
      mode: 'verbatim',
      flush: true,
    });
    expect(posted.status).toBe(202);
  }
  expect(await quiet(at.search, WITHIN_MS)).toMatchObject({ parked: 0, gap: 0 });
  await expect.poll(async () => (await get(`${at.search}/v1/stats`)).body.outbox, WITHIN).toBe(0);
}

const userOf = (n: number): string => USERS[n % USERS.length] ?? 'ana';
/** Whether each question finds its memory among the first ten. */
const recalled = async (at: Setup, numbers: readonly number[]) => {
  const hits: boolean[] = [];
  for (const n of numbers) {
    const { status, degraded, hit } = await search(at, userOf(n), n);
    expect({ status, degraded }).toEqual({ status: 200, degraded: null });
    hits.push(hit);
  }
  return hits.filter(Boolean).length / hits.length;
};

async function open(way: OpenSetup): Promise<Setup> {
  setup = await way(env);
  return setup;
}
/** Restarts with other settings. */
async function restart(at: Setup, settings: Record<string, string>, gone: readonly string[] = []): Promise<void> {
  await at.stop();
  for (const name of gone) delete env[name];
  Object.assign(env, settings);
  await at.start();
}
const asked = Array.from({ length: 15 }, (_, i) => i * 4);

describe.each([
  ['one process', standalone],
  ['four processes', fourProcesses],
])('an index that is moved to another embedder, by %s', (_, way) => {
  it(
    'finds no less at any time under load, embeds each text once, and goes back and forth without embedding',
    async () => {
      const at = await open(way);
      await seed(at);
      const before = await recalled(at, asked);
      expect(before).toBeGreaterThan(0.9);
      await restart(at, NEXT());
      expect(await state(at)).toBeNull();
      const { body } = await start(at, { dry_run: true });
      expect(body.estimate).toMatchObject({ texts: 2 * MEMORIES });
      expect((await start(at)).status).toBe(200);
      // Everybody goes on writing and asking meanwhile.
      let going = true;
      let written = MEMORIES;
      const recalls: number[] = [];
      const loading = async () => {
        while (going) {
          const n = written;
          const user = userOf(n);
          const turn = { ...said(user, factOf(user, n)), mode: 'verbatim', flush: true };
          expect((await post(`${at.ingest}/v1/batches`, turn)).status).toBe(202);
          written += 1;
          recalls.push(await recalled(at, asked));
        }
      };
      const switched = async () => {
        try {
          await expect.poll(() => move(at), WITHIN).toMatchObject({ state: 'switched' });
          const seen = recalls.length;
          await expect.poll(() => recalls.length, WITHIN).toBeGreaterThan(seen + 3);
        } finally {
          going = false;
        }
      };
      await Promise.all([loading(), switched()]);
      expect(Math.min(...recalls)).toBeGreaterThanOrEqual(before);
      const { comparison } = await move(at);
      expect(comparison).toMatchObject({ passed: true, asked: expect.any(Number) });
      await seed(at, written, written);
      expect(await recalled(at, [written - 1])).toBe(1);
      expect(twice('new-model')).toEqual([]);
      expect(twice('old-model')).toEqual([]);
      const facts = [...embedded('new-model').keys()].filter((text) => FACT.test(text));
      expect(facts.length).toBe(written);

      const texts = () => model.embeddingCalls.flatMap(({ texts }) => texts).filter((text) => FACT.test(text));
      const calls = texts().length;
      expect((await patch(at, { state: 'ready' })).status).toBe(200);
      await expect.poll(() => recalled(at, [...asked, written - 1]), WITHIN).toBeGreaterThanOrEqual(before);
      expect((await patch(at, { state: 'switched' })).status).toBe(200);
      expect(texts().length).toBe(calls);
      expect((await patch(at, { state: 'confirmed' })).status).toBe(200);
      expect(await recalled(at, asked)).toBeGreaterThanOrEqual(before);
      await expect.poll(async () => (await move(at)).cleaned, WITHIN).toBe(true);
      expect(await recalled(at, asked)).toBeGreaterThanOrEqual(before);

      // From now on the new embedder is the only one.
      const settled = { SLOWWAVE_EMBEDDING_MODEL: 'new-model', SLOWWAVE_EMBEDDING_DIMENSIONS: '256' };
      await restart(at, settled, Object.keys(NEXT()));
      expect(await recalled(at, [...asked, written - 1])).toBeGreaterThanOrEqual(before);
      expect(texts().length).toBe(calls);
      expect((await get(`${at.console}/v1/doctor?depth=usual`)).body).toMatchObject({ healthy: true });
    },
    6 * WITHIN_MS,
  );
});

/** Texts of both indexes, whichever embedder they are of. */
async function textsIn({ dataDir }: Setup): Promise<string[]> {
  const texts: string[] = [];
  for (const file of ['index.db', 'index-2.db']) {
    const index = await openSqliteIndex({ path: join(dataDir, file), dimensions: 1, fingerprint: 'any' });
    for (let after: string | null = null; ; ) {
      const { points, next } = await index.page(after, 500);
      texts.push(...points.map(({ text }) => `${file} ${text}`));
      if (next === null) break;
      after = next;
    }
    await index.close();
  }
  return texts;
}

it(
  'a killed move goes on without embedding again, waits where a person wants to switch, and keeps nothing of who is erased meanwhile',
  async () => {
    const at = await open(standalone);
    await seed(at);
    // Enough questions to be compared by.
    expect(await recalled(at, asked)).toBeGreaterThan(0.9);
    await restart(at, NEXT());
    // The new model answers some calls, and is silent from then on.
    const answered = new Set<string>();
    let silent = 0;
    model.setEmbeddingScript(({ request, texts }) => {
      const facts = texts.filter((text) => FACT.test(text));
      if (request.model !== 'new-model' || facts.length === 0) return null;
      if (answered.size >= MEMORIES / 3) {
        silent += 1;
        return { timeout: true };
      }
      for (const text of facts) answered.add(text);
      return null;
    });
    expect((await start(at, { auto: false })).status).toBe(200);
    await expect.poll(() => silent, WITHIN).toBeGreaterThan(0);
    await at.crash();
    const again: string[] = [];
    const since = new Set<string>();
    model.setEmbeddingScript(({ request, texts }) => {
      if (request.model !== 'new-model') return null;
      again.push(...texts.filter((text) => answered.has(text) || (FACT.test(text) && since.has(text))));
      for (const text of texts) since.add(text);
      return null;
    });
    await at.start();
    expect(await state(at)).toBe('filling');
    expect((await call('DELETE', `${at.console}/v1/users/bob`)).status).toBeLessThan(300);
    await expect.poll(() => move(at), WITHIN).toMatchObject({ state: 'ready', comparison: { passed: true } });
    expect(again).toEqual([]);
    const left = async () => (await textsIn(at)).filter((text) => text.includes('of bob'));
    await expect.poll(left, WITHIN).toEqual([]);
    const there = await textsIn(at);
    const memories = (file: string) => there.filter((text) => text.startsWith(file)).length;
    expect(memories('index-2.db')).toBe(memories('index.db'));
    expect((await patch(at, { state: 'ready' })).status).toBe(409);
    expect((await patch(at, { state: 'abandoned' })).status).toBe(200);
    await expect.poll(() => state(at), WITHIN).toBeNull();
    expect((await textsIn(at)).filter((text) => text.startsWith('index-2.db'))).toEqual([]);
    expect(await recalled(at, [0, 3, 6])).toBe(1);
  },
  6 * WITHIN_MS,
);

it(
  'a process that does not know both embedders is told what to set, and does not start',
  async () => {
    const at = await open(standalone);
    await seed(at, 0, 3);
    await restart(at, NEXT());
    expect((await start(at, { auto: false })).status).toBe(200);
    await expect(restart(at, {}, Object.keys(NEXT()))).rejects.toThrow(
      /the index is being moved from .*SLOWWAVE_NEXT_EMBEDDING_MODEL/,
    );
  },
  3 * WITHIN_MS,
);
