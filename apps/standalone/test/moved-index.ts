import { type ModelServer, startModelServer } from '@slowwave/testkit';
import { expect } from 'vitest';
import { type Answer, call, get, post, quiet, said } from './client.ts';
import type { OpenSetup, Setup } from './setups.ts';

/** On a machine that does other things too. */
export const WITHIN_MS = 90_000;
export const WITHIN = { timeout: WITHIN_MS, interval: 250 };

const USERS = ['ana', 'bob', 'eve'];
const TOPICS = ['tea', 'piano', 'bicycle', 'garden', 'chess', 'opera', 'bread', 'canoe', 'violin', 'desert'];
const PER_BATCH = 10;

const userOf = (n: number): string => USERS[n % USERS.length] ?? 'ana';
const factOf = (n: number): string =>
  `The ${TOPICS[n % TOPICS.length]} number ${n} of ${userOf(n)} is kept in room ${n * 7 + 3}`;
const questionOf = (n: number): string => `Where is ${TOPICS[n % TOPICS.length]} number ${n}?`;
/** What memories are made of, and not questions. */
export const FACT = /^The \w+ number /;

/** An installation with the old embedder, and one that its index can be moved to; both are asked of the same server. */
export interface MovedIndex {
  readonly at: Setup;
  readonly model: ModelServer;
  /** How many facts were written. */
  readonly written: number;
  /** Writes so many more facts, each of which becomes a memory, and waits until all are found. */
  seed(more: number): Promise<void>;
  /** Writes another one, and waits for nothing. */
  tell(): Promise<void>;
  /** Of the memories that the questions are about, the share that is among the first ten. */
  recalled(numbers: readonly number[]): Promise<number>;
  /** Restarts so that all processes know both embedders. */
  withNext(): Promise<void>;
  /** Restarts with these settings instead of those of the next embedder. */
  without(settings?: Readonly<Record<string, string>>): Promise<void>;
  // biome-ignore lint/suspicious/noExplicitAny: as answers
  move(): Promise<any>;
  start(body?: object): Promise<Answer>;
  patch(body: object): Promise<Answer>;
  /** Facts that a model was asked for, each as often as it was. */
  embedded(name: 'old-model' | 'new-model'): ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** As long as nothing is moved, it makes no difference whether the processes know the next embedder from their first start. */
export async function openMovedIndex(way: OpenSetup, { next: atOnce = false } = {}): Promise<MovedIndex> {
  const model = await startModelServer({ dimensions: 64 });
  const env: Record<string, string> = {
    SLOWWAVE_EMBEDDING_BASE_URL: model.baseUrl,
    SLOWWAVE_EMBEDDING_MODEL: 'old-model',
  };
  const next: Readonly<Record<string, string>> = {
    SLOWWAVE_NEXT_EMBEDDING_BASE_URL: model.baseUrl,
    SLOWWAVE_NEXT_EMBEDDING_MODEL: 'new-model',
    SLOWWAVE_NEXT_EMBEDDING_DIMENSIONS: '256',
  };
  if (atOnce) Object.assign(env, next);
  const at = await way(env);
  let written = 0;
  const post202 = async (user: string, texts: readonly string[]): Promise<void> => {
    const turn = { ...said(user, ...texts), mode: 'verbatim', flush: true };
    expect((await post(`${at.ingest}/v1/batches`, turn)).status).toBe(202);
  };
  const restart = async (change: () => void): Promise<void> => {
    await at.stop();
    change();
    await at.start();
  };
  return {
    at,
    model,
    get written() {
      return written;
    },
    seed: async (more) => {
      const numbers = Array.from({ length: more }, (_, i) => written + i);
      written += more;
      for (const [user, of] of Map.groupBy(numbers, userOf))
        for (let from = 0; from < of.length; from += PER_BATCH)
          await post202(user, of.slice(from, from + PER_BATCH).map(factOf));
      expect(await quiet(at.search, WITHIN_MS)).toMatchObject({ parked: 0, gap: 0 });
      await expect.poll(async () => (await get(`${at.search}/v1/stats`)).body.outbox, WITHIN).toBe(0);
    },
    tell: async () => {
      written += 1;
      await post202(userOf(written - 1), [factOf(written - 1)]);
    },
    recalled: async (numbers) => {
      let found = 0;
      for (const n of numbers) {
        const question = { user_id: userOf(n), query: questionOf(n), top_k: 10, cut: 'none' };
        const { status, body } = await post(`${at.search}/v1/search`, question);
        expect({ status, degraded: body.degraded ?? null }).toEqual({ status: 200, degraded: null });
        if (body.results.some(({ memory }: { memory: string }) => memory === factOf(n))) found += 1;
      }
      return found / numbers.length;
    },
    withNext: () => restart(() => Object.assign(env, next)),
    without: (settings = {}) =>
      restart(() => {
        for (const name of Object.keys(next)) delete env[name];
        Object.assign(env, settings);
      }),
    move: async () => (await get(`${at.console}/v1/index/move`)).body.move,
    start: (body = {}) => post(`${at.console}/v1/index/move`, body),
    patch: (body) => call('PATCH', `${at.console}/v1/index/move`, { body }),
    embedded: (name) => {
      const counts = new Map<string, number>();
      const asked = model.embeddingCalls.filter(({ request }) => request.model === name);
      for (const text of asked.flatMap(({ texts }) => texts))
        if (FACT.test(text)) counts.set(text, (counts.get(text) ?? 0) + 1);
      return counts;
    },
    close: async () => {
      await at.close();
      await model.close();
    },
  };
}

/** Facts that a model was asked for more than once. */
export const twice = (asked: ReadonlyMap<string, number>): string[] =>
  [...asked].filter(([, count]) => count > 1).map(([text]) => text);

/** Writes and asks all the time while the index is moved; answers with each recall that was seen. */
export async function underLoad(
  { tell, recalled, move }: MovedIndex,
  { asked, after }: { readonly asked: readonly number[]; readonly after: number },
): Promise<readonly number[]> {
  let going = true;
  const recalls: number[] = [];
  const loading = async () => {
    while (going) {
      await tell();
      recalls.push(await recalled(asked));
    }
  };
  const switched = async () => {
    try {
      await expect.poll(move, WITHIN).toMatchObject({ state: 'switched' });
      const seen = recalls.length;
      await expect.poll(() => recalls.length, WITHIN).toBeGreaterThan(seen + after);
    } finally {
      going = false;
    }
  };
  await Promise.all([loading(), switched()]);
  return recalls;
}

export const factsAsked = (asked: ReadonlyMap<string, number>): number =>
  [...asked.values()].reduce((sum, count) => sum + count, 0);
