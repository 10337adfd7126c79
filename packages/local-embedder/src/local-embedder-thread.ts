import { readFile } from 'node:fs/promises';
import { Tokenizer } from '@huggingface/tokenizers';
import type { LocalThreadInit, LocalThreadMethods, LocalVectors } from '@slowwave/adapters/local';
import { hostThread, methodHost } from '@slowwave/adapters/thread-host';
import { InferenceSession, Tensor } from 'onnxruntime-node';

// A sentence-embedding model in a thread of its own: one call computes for as long as it takes.

/**
 * On a machine that is shared, a second compute thread doubles the processor time and answers no sooner. Memory that the runtime
 * would keep for the next run is given back: that is 150 MB less, and a tenth slower.
 */
const FRUGAL: InferenceSession.SessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  enableCpuMemArena: false,
  enableMemPattern: false,
  executionProviders: ['cpu'],
};

/** Loads the model and asks it once: what it answers has to be what its settings say. */
async function loadModel(init: LocalThreadInit): Promise<Model> {
  const tokenizer = new Tokenizer(JSON.parse(await readFile(init.tokenizer, 'utf8')), {});
  const session = await InferenceSession.create(init.model, FRUGAL);
  const model: Model = { init, tokenizer, session };
  try {
    await embed(model, ['How long are the vectors of this model?']);
  } catch (error) {
    await session.release();
    throw error;
  }
  return model;
}

interface Model {
  readonly init: LocalThreadInit;
  readonly tokenizer: Tokenizer;
  readonly session: InferenceSession;
}

async function embed(model: Model, texts: readonly string[]): Promise<LocalVectors> {
  const { init, session } = model;
  const rows = texts.map((text) => tokensOf(model, text));
  const output = hiddenIn(await session.run(feedsOf(session, rows)));
  const width = output.dims.at(-1) ?? 0;
  if (width !== init.dimensions) {
    throw new Error(`expected vectors of ${init.dimensions} dimensions from ${init.model}, got ${width}`);
  }
  const data = output.data as Float32Array;
  const vectors = rows.map((ids, row) => unitVector(pooled({ data, dims: output.dims, row, ids }, init)));
  return { vectors, tokens: rows.reduce((sum, ids) => sum + ids.length, 0) };
}

/** No text of a model's tokens is longer than so many characters each on average; the tokenizer takes time for every one. */
const CHARACTERS_PER_TOKEN = 8;

/** Tokens of the beginning of a text, with the last one, that ends it, kept. */
function tokensOf({ init: { maxTokens }, tokenizer }: Model, text: string): readonly number[] {
  const { ids } = tokenizer.encode(text.slice(0, maxTokens * CHARACTERS_PER_TOKEN).toWellFormed());
  return ids.length <= maxTokens ? ids : [...ids.slice(0, maxTokens - 1), ...ids.slice(-1)];
}

/** Models differ in which of these they take. The padding behind shorter texts is masked, so its ids do not matter. */
function feedsOf(session: InferenceSession, rows: readonly (readonly number[])[]): Record<string, Tensor> {
  const length = Math.max(...rows.map((ids) => ids.length));
  const size = rows.length * length;
  const [ids, mask] = [new BigInt64Array(size), new BigInt64Array(size)];
  rows.forEach((row, at) => {
    ids.set(row.map(BigInt), at * length);
    mask.fill(1n, at * length, at * length + row.length);
  });
  const inputs: Readonly<Record<string, BigInt64Array>> = {
    input_ids: ids,
    attention_mask: mask,
    token_type_ids: new BigInt64Array(size),
  };
  const known = session.inputNames.map((name) => {
    const data = inputs[name];
    if (data !== undefined) return [name, new Tensor('int64', data, [rows.length, length])] as const;
    throw new Error(`expected a model with the inputs ${Object.keys(inputs).join(', ')}, got one with "${name}"`);
  });
  return Object.fromEntries(known);
}

/** Outputs under their usual names, those of every token first; else the first output. */
const OUTPUTS = ['last_hidden_state', 'token_embeddings', 'sentence_embedding'];

function hiddenIn(outputs: Readonly<Record<string, Tensor>>): Tensor {
  const name = OUTPUTS.find((usual) => usual in outputs) ?? Object.keys(outputs)[0] ?? '';
  const output = outputs[name];
  if (output?.type === 'float32' && [2, 3].includes(output.dims.length)) return output;
  throw new Error(
    `expected an embedding model with 32-bit vectors as its output, got ${output?.type ?? 'no output'} ` +
      `of ${output?.dims.length ?? 0} dimensions`,
  );
}

interface Hidden {
  readonly data: Float32Array;
  /** Texts, tokens and numbers; or texts and numbers, where the model pools itself. */
  readonly dims: readonly number[];
  readonly row: number;
  readonly ids: readonly number[];
}

function pooled({ data, dims, row, ids }: Hidden, { pooling, dimensions }: LocalThreadInit): Float64Array {
  const length = dims.length === 3 ? (dims[1] ?? 0) : 1;
  const tokens = dims.length === 2 || pooling === 'cls' ? 1 : ids.length;
  const sums = new Float64Array(dimensions);
  for (let token = 0; token < tokens; token += 1) {
    const from = (row * length + token) * dimensions;
    for (let i = 0; i < dimensions; i += 1) sums[i] = (sums[i] ?? 0) + (data[from + i] ?? 0);
  }
  return sums.map((sum) => sum / tokens);
}

/** All zeros stay: they are near nothing. */
function unitVector(vector: Float64Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(vector, (value) => (length === 0 ? 0 : value / length));
}

hostThread<LocalThreadInit>(async (init) => {
  const model = await loadModel(init);
  const methods: LocalThreadMethods = { embed: (texts) => embed(model, texts) };
  return methodHost({ ...methods }, () => model.session.release());
});
