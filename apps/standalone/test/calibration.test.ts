import { type ModelServer, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { get, post } from './client.ts';
import { type Setup, standalone } from './setups.ts';

/** On a machine that does other things too. */
const WITHIN_MS = 60_000;
/** One of the sentences that an embedder is calibrated with. */
const SAMPLE = 'User keeps bees behind the garage';

let model: ModelServer;
let setup: Setup | null = null;
beforeEach(async () => {
  model = await startModelServer({ dimensions: 64 });
});
afterEach(async () => {
  await setup?.close();
  await model.close();
  setup = null;
});

const measured = (): number => model.embeddingCalls.filter(({ texts }) => texts.includes(SAMPLE)).length;

it(
  'an embedding model is calibrated when it is first used, and not again at the next start',
  async () => {
    setup = await standalone({ SLOWWAVE_EMBEDDING_BASE_URL: model.baseUrl, SLOWWAVE_EMBEDDING_MODEL: 'emb' });
    await setup.waitForLine(/the embedding model was calibrated/);
    expect(measured()).toBe(1);
    await setup.stop();
    await setup.start();
    const written = await post(`${setup.console}/v1/memories`, { memory: 'User has a green bicycle', user_id: 'ana' });
    expect(written.status).toBe(201);
    await expect.poll(async () => (await get(`${setup?.search}/v1/stats`)).body.outbox, { timeout: WITHIN_MS }).toBe(0);
    expect(measured()).toBe(1);
  },
  4 * WITHIN_MS,
);
