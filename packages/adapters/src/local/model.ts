import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, mkdir, open, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import {
  chosenPrefixes,
  conventionsOf,
  digestOf,
  type GivenPrefixes,
  type Pooling,
  type Prefixes,
} from '../conventions.ts';
import { holdFile } from '../sqlite/lock-folder.ts';
import type { KnownModel, PublishedFile } from './known.ts';
import type { LocalThreadInit } from './open.ts';

/** A model that can be run, and all that its vectors depend on. */
export interface LocalModel {
  readonly name: string;
  readonly dimensions: number;
  readonly fingerprint: string;
  readonly prefixes: Prefixes;
  readonly init: LocalThreadInit;
}

/** What a known model is, whether or not its files are there. */
export function knownModel(known: KnownModel, folder: string, given: GivenPrefixes): LocalModel {
  return modelOf({
    ...known,
    hashes: [known.model.sha256, known.tokenizer.sha256],
    prefixes: chosenPrefixes(known.prefixes, given),
    files: { model: join(folder, known.model.name), tokenizer: join(folder, known.tokenizer.name) },
  });
}

/** Reads what the files of a folder say of their model. Throws an error that says what is missing or wrong. */
export async function modelInFolder(folder: string, given: GivenPrefixes): Promise<LocalModel> {
  const files = { model: await onnxIn(folder), tokenizer: join(folder, 'tokenizer.json') };
  const config = await readConfig(folder);
  await access(files.tokenizer).catch(() => {
    throw lacks(folder, 'no tokenizer.json');
  });
  const name = basename(folder);
  const usual = conventionsOf(`${name} ${config._name_or_path ?? ''}`);
  const pooling = await read(folder, '1_Pooling/config.json', PoolingConfig);
  const sentences = await read(folder, 'sentence_bert_config.json', SentenceConfig);
  const prompts = (await read(folder, 'config_sentence_transformers.json', PromptConfig))?.prompts;
  const own = {
    query: prompts?.query ?? usual.prefixes.query,
    document: prompts?.document ?? prompts?.passage ?? usual.prefixes.document,
  };
  return modelOf({
    ...{ name, files },
    hashes: [await hashOf(files.model), await sha256Of(files.tokenizer)],
    dimensions: dimensionsIn(config, folder),
    pooling: (pooling && poolingIn(pooling)) ?? usual.pooling,
    maxTokens: Math.min(MAX_TOKENS, sentences?.max_seq_length ?? MAX_TOKENS, positionsIn(config)),
    prefixes: chosenPrefixes(own, given),
  });
}

interface Facts {
  readonly name: string;
  readonly files: Pick<LocalThreadInit, 'model' | 'tokenizer'>;
  readonly hashes: readonly string[];
  readonly dimensions: number;
  readonly pooling: Pooling;
  readonly maxTokens: number;
  readonly prefixes: Prefixes;
}

function modelOf({ name, files, hashes, dimensions, pooling, maxTokens, prefixes }: Facts): LocalModel {
  const digest = digestOf([hashes, pooling, maxTokens, prefixes.query, prefixes.document]);
  return {
    ...{ name, dimensions, prefixes },
    fingerprint: `local:${name}:${dimensions}:${digest}`,
    init: { ...files, pooling, maxTokens, dimensions },
  };
}

/** Where exports have their ONNX file; the smaller one first, for it is nearly as good. */
const ONNX_FILES = ['model.onnx', 'model_quantized.onnx', 'onnx/model_quantized.onnx', 'onnx/model.onnx'];

async function onnxIn(folder: string): Promise<string> {
  const there = await readdir(folder, { recursive: true }).catch(() => {
    throw lacks(folder, 'no such folder');
  });
  const found = ONNX_FILES.find((name) => there.includes(name));
  if (found !== undefined) return join(folder, found);
  const [only, ...others] = there.filter((name) => name.endsWith('.onnx'));
  if (only !== undefined && others.length === 0) return join(folder, only);
  throw lacks(folder, only === undefined ? 'no ONNX file' : `several ONNX files (${[only, ...others].join(', ')})`);
}

const lacks = (folder: string, got: string): Error =>
  new Error(
    `expected ${folder} to be a folder with model.onnx, tokenizer.json and config.json, got ${got}; ` +
      'complete it, or correct SLOWWAVE_EMBEDDING_MODEL',
  );

/** Of the model, and of the weights that some exports have in a file beside it. */
async function hashOf(model: string): Promise<string> {
  const beside = await sha256Of(`${model}_data`).catch(() => '');
  return `${await sha256Of(model)}${beside}`;
}

/** A text as long as this takes a second; what it is about stands in its beginning. */
const MAX_TOKENS = 512;

const Size = z.int().positive();
const ModelConfig = z.object({
  _name_or_path: z.string().optional(),
  model_type: z.string().optional(),
  hidden_size: Size.optional(),
  dim: Size.optional(),
  d_model: Size.optional(),
  max_position_embeddings: Size.optional(),
});
const PoolingConfig = z.object({
  pooling_mode_cls_token: z.boolean().optional(),
  pooling_mode_mean_tokens: z.boolean().optional(),
});
const SentenceConfig = z.object({ max_seq_length: Size.nullish() });
const Prompt = z.string().optional();
const PromptConfig = z.object({
  prompts: z.object({ query: Prompt, document: Prompt, passage: Prompt }).optional(),
});

async function readConfig(folder: string): Promise<z.infer<typeof ModelConfig>> {
  const config = await read(folder, 'config.json', ModelConfig);
  if (config === null) throw lacks(folder, 'no config.json');
  return config;
}

/** null: there is no such file. */
async function read<T>(folder: string, name: string, schema: z.ZodType<T>): Promise<T | null> {
  const path = join(folder, name);
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`expected ${path} to be the JSON of a model's settings, got something else; replace it`, { cause });
  }
}

function dimensionsIn({ hidden_size, dim, d_model }: z.infer<typeof ModelConfig>, folder: string): number {
  const dimensions = hidden_size ?? dim ?? d_model;
  if (dimensions === undefined) throw lacks(folder, 'a config.json without hidden_size');
  return dimensions;
}

/** Models of RoBERTa's kind count their positions from two on. */
function positionsIn({ model_type = '', max_position_embeddings }: z.infer<typeof ModelConfig>): number {
  if (max_position_embeddings === undefined) return MAX_TOKENS;
  return max_position_embeddings - (/roberta/.test(model_type) ? 2 : 0);
}

/** null: the file says neither. */
function poolingIn(config: z.infer<typeof PoolingConfig>): Pooling | null {
  if (config.pooling_mode_mean_tokens === true) return 'mean';
  return config.pooling_mode_cls_token === true ? 'cls' : null;
}

/** So many bytes of so many are there. */
export type OnProgress = (done: number, total: number) => void;

interface Download {
  readonly files: readonly PublishedFile[];
  readonly folder: string;
  /** The address that the files' own are below. */
  readonly hub: string;
  readonly onProgress: OnProgress;
  readonly signal: AbortSignal;
}

/**
 * Brings files into a folder, each under its name only once it is whole and the right one. What was interrupted goes on where
 * it was.
 */
export async function download(wanted: Download): Promise<void> {
  await mkdir(wanted.folder, { recursive: true });
  const held = holdFile(join(wanted.folder, 'download.lock'));
  if ('heldBy' in held) throw new Error(`process ${held.heldBy} is downloading it`);
  try {
    await downloadMissing(wanted);
  } finally {
    held.close();
  }
}

async function downloadMissing({ files, folder, hub, onProgress, signal }: Download): Promise<void> {
  const missing = await missingOf(files, folder);
  const total = missing.reduce((sum, { bytes }) => sum + bytes, 0);
  let before = 0;
  await requireSpace(missing, folder);
  onProgress(0, total); // a server may take its time to begin
  for (const file of missing) {
    const here = before;
    const url = new URL(file.from, hub.endsWith('/') ? hub : `${hub}/`);
    await fetchFile({ file, url, path: join(folder, file.name), signal }, (done) => onProgress(here + done, total));
    before += file.bytes;
  }
}

/** The files that are not there as they were published. */
export async function missingOf(files: readonly PublishedFile[], folder: string): Promise<readonly PublishedFile[]> {
  const there = await Promise.all(files.map((file) => isThere(file, join(folder, file.name))));
  return files.filter((_, i) => there[i] !== true);
}

async function isThere({ bytes, sha256 }: PublishedFile, path: string): Promise<boolean> {
  return (await sizeOf(path)) === bytes && (await sha256Of(path)) === sha256;
}

/** 0 where there is none. */
const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

const partOf = (path: string): string => `${path}.part`;
const MEGABYTE = 1_000_000;

async function requireSpace(files: readonly PublishedFile[], folder: string): Promise<void> {
  const parts = await Promise.all(files.map(({ name }) => sizeOf(partOf(join(folder, name)))));
  const needed = files.reduce((sum, { bytes }) => sum + bytes, 0) - parts.reduce((sum, size) => sum + size, 0);
  const { bavail, bsize } = await statfs(folder);
  if (needed <= bavail * bsize) return;
  const free = Math.floor((bavail * bsize) / MEGABYTE);
  throw new Error(
    `${folder} needs ${Math.ceil(needed / MEGABYTE)} MB for it and has ${free} MB free; free some space, or move SLOWWAVE_DATA_DIR`,
  );
}

interface Fetching {
  readonly file: PublishedFile;
  readonly url: URL;
  readonly path: string;
  readonly signal: AbortSignal;
}

async function fetchFile(fetching: Fetching, onProgress: (done: number) => void): Promise<void> {
  const { file, url, path } = fetching;
  const part = partOf(path);
  await append(fetching, part, onProgress);
  const sha256 = (await sizeOf(part)) === file.bytes ? await sha256Of(part) : 'another length';
  if (sha256 !== file.sha256) {
    await rm(part, { force: true });
    throw new Error(
      `expected ${url} to have the SHA-256 checksum ${file.sha256}, got ${sha256}; it was discarded. ` +
        'Check SLOWWAVE_MODEL_HUB_URL, or put the files into a folder yourself and name that',
    );
  }
  await rename(part, path);
}

/** A server that says nothing for so long is asked again later. */
const SILENT_MS = 60_000;

/** Appends what a part lacks. A server that does not send the rest alone sends everything, and the part begins anew. */
async function append(
  { file, url, signal }: Fetching,
  part: string,
  onProgress: (done: number) => void,
): Promise<void> {
  const had = await sizeOf(part);
  if (had === file.bytes) return;
  const silence = silenceOf(SILENT_MS);
  try {
    const response = await fetch(url, {
      headers: had > 0 ? { range: `bytes=${had}-` } : {},
      signal: AbortSignal.any([signal, silence.signal]),
    });
    const rest = response.status === 206 && had > 0;
    if (!response.ok || response.body === null) {
      await rm(part, { force: true }); // it may be what the server does not like
      throw new Error(`expected ${url} to send the file, got status ${response.status}`);
    }
    const handle = await open(part, rest ? 'a' : 'w');
    let done = rest ? had : 0;
    try {
      for await (const chunk of response.body) {
        silence.broken();
        done += chunk.byteLength;
        if (done > file.bytes) break; // not the file that was published
        await handle.write(chunk);
        onProgress(done);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (done > file.bytes) await rm(part, { force: true });
  } finally {
    silence.over();
  }
}

/** A signal that is aborted when nothing has broken the silence for so long. */
function silenceOf(ms: number) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error(`it sent nothing for ${ms / 1000} s`)), ms);
  return { signal: abort.signal, broken: () => void timer.refresh(), over: () => clearTimeout(timer) };
}

/** Files of a hundred megabytes are read in pieces between which others have their turn. */
const PIECE_BYTES = 1024 * 1024;

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES })) hash.update(piece);
  return hash.digest('hex');
}
