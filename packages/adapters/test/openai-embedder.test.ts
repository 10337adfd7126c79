import { type Embedder, EngineError, embedAll, type Log } from '@slowwave/engine';
import { type EmbeddingCall, type ModelServer, type Raw, refusal, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openaiEmbedder } from '../src/openai/index.ts';

const NEVER = new AbortController().signal;
const QUIET: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer({ dimensions: 16 });
});
afterEach(() => server.close());

const connected = (options: Partial<Parameters<typeof openaiEmbedder>[0]> = {}): Promise<Embedder> =>
  openaiEmbedder({
    apiKey: 'key',
    baseUrl: server.baseUrl,
    model: 'emb',
    dimensions: 16,
    timeoutMs: 30_000,
    log: QUIET,
    ...options,
  });
const failure = async (embedder: Promise<Embedder>): Promise<EngineError> => {
  const thrown = await embedder.then((ready) => ready.embed(['tea'], NEVER)).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(EngineError);
  return thrown as EngineError;
};
const lengthOf = (vector: Float32Array | null | undefined): number => Math.hypot(...(vector ?? []));
const vectors = (...embeddings: number[][]): Raw => ({
  status: 200,
  body: { data: embeddings.map((embedding, index) => ({ index, embedding })) },
});
const sizes = (): number[] => server.embeddingCalls.map(({ texts }) => texts.length);

describe('vectors', () => {
  test('come one per text, in order, at unit length, as few bytes', async () => {
    const { vectors: found, usage } = await (await connected()).embed(['tea', 'milk', 'tea'], NEVER);
    expect(found.map(lengthOf)).toEqual([expect.closeTo(1), expect.closeTo(1), expect.closeTo(1)]);
    expect(found[0]).toEqual(found[2]);
    expect(found[0]).not.toEqual(found[1]);
    expect(usage).toEqual({ promptTokens: 3, completionTokens: 0 });
    expect(server.embeddingCalls[0]?.request).toMatchObject({
      model: 'emb',
      dimensions: 16,
      encoding_format: 'base64',
    });
  });

  test('are put in the order of the texts and normalised, whatever the server does', async () => {
    const data = [
      { index: 1, embedding: [0, 5] },
      { index: 0, embedding: [3, 4] },
    ];
    server.setEmbeddingScript(() => ({ status: 200, body: { data } }));
    const { vectors: found, usage } = await (await connected({ dimensions: 2 })).embed(['long enough', 'text'], NEVER);
    expect(found.map((vector) => [...(vector ?? [])])).toEqual([
      [expect.closeTo(0.6), expect.closeTo(0.8)],
      [0, 1],
    ]);
    expect(usage.promptTokens).toBeGreaterThan(2);
  });

  test('that are all zeros stay so', async () => {
    server.setEmbeddingScript(() => vectors([0, 0]));
    const { vectors: found } = await (await connected({ dimensions: 2 })).embed([''], NEVER);
    expect(found).toEqual([new Float32Array(2)]);
  });

  test('of nothing cost nothing', async () => {
    const embedded = await (await connected()).embed([], NEVER);
    expect(embedded).toEqual({ vectors: [], usage: { promptTokens: 0, completionTokens: 0 } });
    expect(server.embeddingCalls).toHaveLength(0);
  });
});

describe('texts', () => {
  test('are never sent empty, nor with half characters', async () => {
    await (await connected()).embed(['', ' \n', 'cut \ud83d'], NEVER);
    expect(server.embeddingCalls[0]?.texts).toEqual([' ', ' ', 'cut �']);
  });

  test('go in requests that grow from 16 to 64 while they are quick', async () => {
    const texts = Array.from({ length: 300 }, (_, i) => `text ${i}`);
    const found = await embedAll(await connected(), texts, NEVER);
    expect(sizes()).toEqual([16, 32, 64, 64, 64, 60]);
    expect(server.embeddingCalls.flatMap(({ texts: sent }) => sent)).toEqual(texts);
    expect(found).toHaveLength(300);
  });

  test('that are long are cut to what models take, and go in smaller batches', async () => {
    const long = [...Array.from({ length: 13 }, () => 'word '.repeat(10_000)), '茶'.repeat(9000)];
    await embedAll(await connected(), long, NEVER);
    expect(sizes()).toEqual([12, 2]);
    expect(server.embeddingCalls[1]?.texts.map(({ length }) => length)).toEqual([32_000, 8000]);
  });

  test('too long for the model are shortened alone, their neighbours stay whole', async () => {
    const tooLong = ({ texts }: EmbeddingCall): boolean => texts.some(({ length }) => length > 2000);
    const complaint = refusal(400, { message: "This model's maximum context length is 512 tokens" });
    server.setEmbeddingScript((call) => (tooLong(call) ? complaint : null));
    const texts = ['a'.repeat(1500), 'b'.repeat(5000), 'c'];
    const { vectors: found } = await (await connected()).embed(texts, NEVER);
    expect(found).toHaveLength(3);
    const taken = server.embeddingCalls.filter((call) => !tooLong(call)).flatMap((call) => call.texts);
    expect(taken.toSorted()).toEqual(['a'.repeat(1500), 'b'.repeat(1248), 'c']);
  });

  test('too many for the server go in halves, and how many it takes is learnt', async () => {
    const complaint: Raw = { status: 422, body: { error: 'batch size 5 > maximum allowed batch size 2' } };
    server.setEmbeddingScript(({ texts }) => (texts.length > 2 ? complaint : null));
    const embedder = await connected();
    const { vectors: found, usage } = await embedder.embed(['a', 'b', 'c', 'd', 'e'], NEVER);
    expect(sizes()).toEqual([5, 3, 2, 1, 2]);
    expect(found).toHaveLength(5);
    expect(usage.promptTokens).toBe(5);
    await embedAll(embedder, ['f', 'g', 'h', 'i', 'j'], NEVER);
    expect(sizes().slice(5)).toEqual([2, 2, 1]);
  });

  test.each([10, 32, 100])('are sent at most %i at a time to a server that takes no more', async (most) => {
    server.setEmbeddingScript(({ texts }) =>
      texts.length > most ? { status: 400, body: { error: 'too many' } } : null,
    );
    const embedder = await connected();
    const texts = Array.from({ length: 500 }, (_, i) => `text ${i}`);
    expect(await embedAll(embedder, texts, NEVER)).toHaveLength(500);
    const taken = server.embeddingCalls.filter((call) => call.texts.length <= most).flatMap((call) => call.texts);
    expect(taken, 'each once, in order').toEqual(texts);
    expect(sizes().filter((size) => size > most).length, 'refused requests').toBeLessThanOrEqual(2);
  });

  test('that were taken are not lost when what follows fails', async () => {
    let calls = 0;
    server.setEmbeddingScript(({ texts }) => {
      calls += 1;
      if (texts.length > 3) return { status: 413 };
      return calls > 2 ? { status: 503 } : null;
    });
    const embedder = await connected();
    expect((await embedder.embed(['a', 'b', 'c', 'd', 'e', 'f'], NEVER)).vectors).toHaveLength(3);
    await expect(embedder.embed(['d', 'e', 'f'], NEVER)).rejects.toMatchObject({ code: 'model_server_error' });
  });
});

test('a server that takes too long is sent half as much, which is no fault of the texts unless there is only one', async () => {
  server.setEmbeddingScript(() => ({ timeout: true }));
  const embedder = await connected({ timeoutMs: 400 }); // enough for a busy machine to hear what was sent
  const texts = Array.from({ length: 64 }, (_, i) => `text ${i}`);
  const counted: boolean[] = [];
  for (let i = 0; i < 6; i += 1) {
    const error = await embedder.embed(texts, NEVER).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'model_timeout', retryable: true });
    counted.push((error as EngineError).countsAsTry);
  }
  expect(sizes()).toEqual([16, 8, 4, 2, 1, 1]);
  expect(counted).toEqual([false, false, false, false, true, true]);
});

describe('a text that the model refuses for good', () => {
  const refusing = (isBad: (text: string) => boolean): void =>
    server.setEmbeddingScript(({ texts }) =>
      texts.some(isBad) ? refusal(400, { message: 'filtered', code: 'content_filter' }) : null,
    );

  test('has no vector, and its neighbours have theirs', async () => {
    refusing((text) => text === 'bad');
    const { vectors: found } = await (await connected()).embed(['tea', 'bad', 'milk', 'bad'], NEVER);
    expect(found.map((vector) => vector && lengthOf(vector))).toEqual([
      expect.closeTo(1),
      null,
      expect.closeTo(1),
      null,
    ]);
  });

  test('is found among hundreds by a few requests', async () => {
    refusing((text) => text === 'text 200');
    const texts = Array.from({ length: 256 }, (_, i) => `text ${i}`);
    const found = await embedAll(await connected(), texts, NEVER);
    expect(found.flatMap((vector, i) => (vector === null ? [i] : []))).toEqual([200]);
    expect(server.embeddingCalls.length).toBeLessThanOrEqual(19);
  });

  test('is told from a model that takes nothing by one more question', async () => {
    refusing((text) => text === 'bad');
    const embedder = await connected();
    expect((await embedder.embed(['bad'], NEVER)).vectors).toEqual([null]);
    expect(server.embeddingCalls).toHaveLength(2);
    refusing(() => true);
    await expect(embedder.embed(['bad', 'good', 'better'], NEVER)).rejects.toMatchObject({
      code: 'model_misconfigured',
    });
    expect(server.embeddingCalls.length, 'not one for each text').toBeLessThanOrEqual(2 + 4);
  });

  test('never hides that the server is away in the middle of it', async () => {
    server.setEmbeddingScript(({ texts }) =>
      texts.includes('bad') ? refusal(400, { message: 'no' }) : { status: 503 },
    );
    await expect((await connected()).embed(['bad', 'good'], NEVER)).rejects.toMatchObject({
      code: 'model_server_error',
    });
  });

  test('however short it is made, is one too long as well', async () => {
    server.setEmbeddingScript(({ texts }) => (texts.some((text) => text.startsWith('bad')) ? { status: 413 } : null));
    const { vectors: found } = await (await connected()).embed(['bad '.repeat(2000), 'good'], NEVER);
    expect(found.map((vector) => vector !== null)).toEqual([false, true]);
  });
});

describe('dimensions', () => {
  test('are asked for once when nobody says them, and are part of the fingerprint', async () => {
    const embedder = await connected({ dimensions: null });
    await embedder.embed(['tea'], NEVER);
    expect([embedder.dimensions, embedder.fingerprint]).toEqual([16, 'openai:emb:16']);
    expect(server.embeddingCalls.map(({ request }) => request.dimensions)).toEqual([undefined, undefined]);
  });

  test('need no request when they are configured', async () => {
    expect((await connected({ dimensions: 8 })).fingerprint).toBe('openai:emb:8');
    expect(server.embeddingCalls).toHaveLength(0);
  });

  test('are no longer asked for when the model has only its own', async () => {
    const complaint = refusal(400, { message: 'Model does not support matryoshka representation' });
    server.setEmbeddingScript(({ request }) => (request.dimensions === undefined ? null : complaint));
    const embedder = await connected();
    await embedder.embed(['tea'], NEVER);
    await embedder.embed(['tea'], NEVER);
    expect(server.embeddingCalls.map(({ request }) => request.dimensions)).toEqual([16, undefined, undefined]);
  });

  test('that are wrong are a mistake of the settings, with what to do', async () => {
    server.setEmbeddingScript(() => vectors([1, 0, 0]));
    const error = await failure(connected());
    expect(error).toMatchObject({ code: 'model_misconfigured', retryable: true, countsAsTry: false });
    expect(error.message).toMatch(
      /expected vectors of 16 dimensions .* got 3; set SLOWWAVE_EMBEDDING_DIMENSIONS to 3/u,
    );
  });
});

test('a server without base64 is asked for numbers', async () => {
  const complaint = refusal(400, { message: 'base64 is not supported', param: 'encoding_format' });
  server.setEmbeddingScript(({ request }) => (request.encoding_format === 'base64' ? complaint : null));
  const { vectors: found } = await (await connected()).embed(['tea'], NEVER);
  expect(found[0]).toHaveLength(16);
  expect(server.embeddingCalls.map(({ request }) => request.encoding_format)).toEqual(['base64', 'float']);
});

describe('failures', () => {
  test.each<[string, Raw, object]>([
    [
      'a rate limit',
      { status: 429, headers: { 'retry-after': '2' } },
      { code: 'model_overloaded', retryable: true, retryAfterMs: 2000 },
    ],
    ['a server error', { status: 500 }, { code: 'model_server_error', retryable: true }],
    ['a wrong key', { status: 401 }, { code: 'model_misconfigured', retryable: true, countsAsTry: false }],
    ['an unknown model', { status: 404 }, { code: 'model_misconfigured', retryable: true, countsAsTry: false }],
    [
      'an error in a success',
      { status: 200, body: { error: { message: 'no' } } },
      { code: 'model_rejected', retryable: true },
    ],
    [
      'a refusal of whatever is asked',
      { status: 400, body: { error: { message: 'no' } } },
      { code: 'model_misconfigured', retryable: true, countsAsTry: false },
    ],
    ['a server for which any text is too long', { status: 413 }, { code: 'model_misconfigured', countsAsTry: false }],
    ['too few vectors', vectors(), { code: 'model_server_error', retryable: true }],
    [
      'no numbers',
      { status: 200, body: { data: [{ embedding: [null, 1] }] } },
      { code: 'model_server_error', retryable: true },
    ],
    ['a body of another kind', { status: 200, body: { data: 'x' } }, { code: 'model_server_error', retryable: true }],
    ['text', { status: 200, body: 'hello' }, { code: 'model_server_error', retryable: true }],
    ['a dropped connection', { drop: true }, { code: 'model_unreachable', retryable: true }],
  ])('%s', async (_, reply, expected) => {
    server.setEmbeddingScript(() => reply);
    expect(await failure(connected())).toMatchObject(expected);
  });

  test('a silent server', async () => {
    server.setEmbeddingScript(() => ({ timeout: true }));
    expect(await failure(connected({ timeoutMs: 150 }))).toMatchObject({ code: 'model_timeout', retryable: true });
  });

  test('at the first question for the dimensions fail the start', async () => {
    server.setEmbeddingScript(() => ({ status: 503 }));
    expect(await failure(connected({ dimensions: null }))).toMatchObject({
      code: 'model_server_error',
      retryable: true,
    });
  });

  test('a cancelled request', async () => {
    server.setEmbeddingScript(() => ({ timeout: true }));
    const cancel = new AbortController();
    const waiting = (await connected()).embed(['tea'], cancel.signal);
    const rejected = expect(waiting).rejects.toMatchObject({ code: 'cancelled', retryable: true });
    await expect.poll(() => server.embeddingCalls.length).toBe(1);
    cancel.abort();
    await rejected;
  });
});
