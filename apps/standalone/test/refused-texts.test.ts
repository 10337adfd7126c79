import { glob, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { answers, echoExtractor, keyedDecider, type ModelServer, refusal, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { call, done, found, get, post, quiet, said } from './client.ts';
import { type OpenSetup, type Setup, standalone, standaloneOnPostgres } from './setups.ts';

/** On a machine that does other things too. */
const WITHIN_MS = 60_000;

let setup: Setup | null = null;
let model: ModelServer;
beforeEach(async () => {
  const script = answers({ extract_facts: echoExtractor(), decide_operations: keyedDecider((text) => text) });
  model = await startModelServer({ script });
});
afterEach(async () => {
  await setup?.close();
  setup = null;
  await model.close();
});

const refusing = (isBad: (text: string) => boolean): void =>
  model.setEmbeddingScript(({ texts }) =>
    texts.some(isBad) ? refusal(400, { message: 'filtered by the policy', code: 'content_filter' }) : null,
  );
const start = async (open: OpenSetup, settings: Readonly<Record<string, string>> = {}): Promise<Setup> => {
  setup = await open({ OPENAI_BASE_URL: model.baseUrl, SLOWWAVE_EMBEDDING_MODEL: 'emb', ...settings });
  return setup;
};
/** Where the model is silent nobody waits long for it. */
const startImpatient = (): Promise<Setup> =>
  start(standalone, { SLOWWAVE_RETRY_DELAY_MS: '200', SLOWWAVE_MODEL_TIMEOUT_MS: '2000' });
const write = (at: Setup, memory: string, user_id = 'ana') => post(`${at.console}/v1/memories`, { memory, user_id });
const outboxOf = async ({ search }: Setup): Promise<number> => (await get(`${search}/v1/stats`)).body.outbox;
const projected = (at: Setup) => expect.poll(() => outboxOf(at), { timeout: WITHIN_MS }).toBe(0);
/** What a search finds by meaning; nothing while the model is too busy to be asked. */
const byMeaning = async ({ search }: Setup, user_id: string, query: string): Promise<string[]> => {
  const { body } = await post(`${search}/v1/search`, { user_id, query, mode: 'vector', include: ['scores'] });
  const results: { memory: string; scores: { vector: number } }[] = body.results ?? [];
  return results.filter(({ scores }) => scores.vector > 0.3).map(({ memory }) => memory);
};
const foundByMeaning = (at: Setup, user: string, text: string) =>
  expect.poll(() => byMeaning(at, user, text), { timeout: WITHIN_MS }).toContain(text);
const figure = async ({ search }: Setup, name: string): Promise<string | undefined> =>
  (await get(`${search}/metrics`)).body.match(new RegExp(`^${name} (.+)$`, 'mu'))?.[1];

describe.each([
  ['SQLite', standalone],
  ['PostgreSQL', standaloneOnPostgres],
])('a text that the embedding model refuses, on %s', (_name, open) => {
  it(
    'is found by its words, parks nothing of its owner, and stops no index from being filled again',
    async () => {
      refusing((text) => text.includes('forbidden'));
      const at = await start(open);
      const written = await write(at, 'the forbidden garden is in Oslo');
      expect(written).toMatchObject({ status: 201, body: { searchable: 'words' } });
      await write(at, 'the allowed garden is in Rome');
      const batches = [
        post(`${at.ingest}/v1/batches`, { ...said('ana', 'my cat is grey', 'a forbidden thing'), flush: true }),
        post(`${at.ingest}/v1/batches`, { ...said('bob', 'my dog is brown'), flush: true }),
      ];
      await Promise.all(batches);
      expect(await quiet(at.search, WITHIN_MS)).toMatchObject({ consolidated: 2, parked: 0, gap: 0 });
      await projected(at);
      await foundByMeaning(at, 'ana', 'the allowed garden is in Rome');
      expect(await found(at.search, 'ana', 'forbidden garden')).toContain('the forbidden garden is in Oslo');
      const refused = async (): Promise<number> => Number(await figure(at, 'slowwave_refused_texts'));
      await expect.poll(refused, { timeout: WITHIN_MS }).toBeGreaterThan(0);
      const asked = () =>
        model.embeddingCalls.filter(({ texts }) => texts.some((text) => text.includes('garden is in Oslo')));
      const before = asked().length;
      await at.stop();
      for await (const file of glob(join(at.dataDir, 'index.db*'))) await rm(file);
      await at.start();
      await projected(at);
      const whole = async () => {
        const { body } = await post(`${at.search}/v1/search`, { user_id: 'bob', query: 'which dog' });
        return body.degraded ?? body.results[0]?.memory;
      };
      await expect.poll(whole, { timeout: WITHIN_MS }).toBe('my dog is brown');
      expect(await found(at.search, 'ana', 'forbidden garden')).toContain('the forbidden garden is in Oslo');
      expect(asked(), 'its refusal was remembered').toHaveLength(before);
    },
    WITHIN_MS * 2,
  );
});

describe('an embedder that does not answer', () => {
  it(
    'holds up neither writes nor searches, and what was written is found by meaning once it is back',
    async () => {
      const at = await startImpatient();
      await write(at, 'my bicycle is red');
      model.setEmbeddingScript(() => ({ timeout: true }));
      const written = await write(at, 'my boat is blue');
      expect(written).toMatchObject({ status: 201, body: { searchable: 'words' } });
      const { id } = written.body;
      const changed = await call('PATCH', `${at.console}/v1/memories/${id}`, { body: { memory: 'my boat is green' } });
      expect(changed).toMatchObject({ status: 200, body: { searchable: 'words', version: 2 } });
      const asked = await post(`${at.search}/v1/search`, { user_id: 'ana', query: 'which boat' });
      expect(asked.body).toMatchObject({
        results: [{ memory: 'my boat is green' }],
        degraded: [expect.stringContaining('(model_timeout); keyword search only')],
      });
      expect(await outboxOf(at)).toBeGreaterThan(0);
      model.setEmbeddingScript(() => null);
      await projected(at);
      await foundByMeaning(at, 'ana', 'my boat is green');
    },
    WITHIN_MS * 2,
  );

  it(
    'for the work of others leaves those who write their place',
    async () => {
      const at = await startImpatient();
      model.setEmbeddingScript(({ texts }) => (texts.some((text) => text.includes('slow')) ? { timeout: true } : null));
      for (let i = 0; i < 40; i += 1)
        await done(post(`${at.ingest}/v1/batches`, { ...said(`user-${i}`, `slow thing ${i}`), flush: true }));
      const calls = () => model.embeddingCalls.filter(({ texts }) => texts.length > 0).length;
      await expect.poll(calls, { timeout: WITHIN_MS }).toBeGreaterThan(2);
      let writer = 0;
      const another = async () => {
        writer += 1;
        return (await write(at, 'my boat is blue', `writer-${writer}`)).body.searchable;
      };
      await expect.poll(another, { timeout: WITHIN_MS }).toBeUndefined();
      expect(await found(at.search, `writer-${writer}`, 'boat')).toEqual(['my boat is blue']);
    },
    WITHIN_MS * 2,
  );
});
