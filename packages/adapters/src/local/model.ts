import { access, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { chosenPrefixes, conventionsOf, digestOf, type GivenPrefixes, type Prefixes } from '../conventions.ts';
import { sha256Of } from './download.ts';
import type { KnownModel } from './known.ts';
import type { LocalThreadInit, Pooling } from './protocol.ts';

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

const Size = z.number().int().positive();
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
