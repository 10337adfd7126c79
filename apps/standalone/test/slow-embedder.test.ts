import { type ModelServer, slowEmbedder, startModelServer } from '@slowwave/testkit';
import { afterEach, expect, it } from 'vitest';
import { done, get, post, quiet, said } from './client.ts';
import { type Setup, standalone } from './setups.ts';

const OWNERS = 30;
const MESSAGES = 100;
/** All texts take three times as long as one request may. */
const MS_PER_TEXT = 3;
const TIMEOUT_MS = 3_000;
/** On a machine that does other things too. */
const WITHIN_MS = 240_000;

let setup: Setup | null = null;
let model: ModelServer | null = null;
afterEach(async () => {
  await setup?.close();
  await model?.close();
});

it(
  'an embedder that takes long over each text embeds each of them once, and nothing is parked',
  async () => {
    model = await startModelServer({ dimensions: 16, embeddingScript: slowEmbedder(MS_PER_TEXT).script });
    setup = await standalone({
      SLOWWAVE_EMBEDDING_BASE_URL: model.baseUrl,
      SLOWWAVE_EMBEDDING_MODEL: 'emb',
      SLOWWAVE_MODEL_TIMEOUT_MS: String(TIMEOUT_MS),
    });
    const { ingest, search } = setup;
    const owners = Array.from({ length: OWNERS }, (_, i) => `owner${i}`);
    for (const owner of owners) {
      const contents = Array.from({ length: MESSAGES }, (_, i) => `${owner} has seen film ${i}`);
      await done(post(`${ingest}/v1/batches`, { ...said(owner, ...contents), mode: 'verbatim', flush: true }));
    }
    expect(await quiet(search, WITHIN_MS)).toMatchObject({ consolidated: OWNERS, parked: 0, gap: 0 });
    await expect.poll(async () => (await get(`${search}/v1/stats`)).body.outbox, { timeout: WITHIN_MS }).toBe(0);
    const texts = model.embeddingCalls.flatMap((call) => call.texts).filter((text) => text.startsWith('owner'));
    expect(new Set(texts).size, 'all of them').toBe(OWNERS * MESSAGES);
    expect(texts.length, 'none of them twice').toBe(OWNERS * MESSAGES);
  },
  2 * WITHIN_MS,
);
