import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Embedded, type Embedder, EngineError, type Log } from '@slowwave/engine';
import { type GivenPrefixes, prefixed } from '../conventions.ts';
import { download, missingOf, type OnProgress } from './download.ts';
import { KNOWN_MODELS } from './known.ts';
import { knownModel, type LocalModel, modelInFolder } from './model.ts';
import { localRunner, type Runner } from './runner.ts';

/** Where a local model comes from: one that is known by its name, or whatever is in a folder. */
export type LocalSource = { readonly name: string } | { readonly folder: string };

export interface LocalOptions {
  readonly source: LocalSource;
  readonly prefixes: GivenPrefixes;
  readonly dataDir: string;
  /** The address that known models are downloaded from. */
  readonly hub: string;
  readonly log: Log;
}

/** A model that runs in this process, for what is stored and for what is asked. */
export interface LocalEmbedder extends Pick<Runner, 'ready' | 'close'> {
  readonly documents: Embedder;
  readonly queries: Embedder;
}

/** Opens at once, whether or not the model can be loaded: its vector space is known before. */
export async function openLocalEmbedder(options: LocalOptions): Promise<LocalEmbedder> {
  const { source, log } = options;
  const opened = 'name' in source ? named(source.name, options) : await inFolder(source.folder, options);
  const runner = localRunner({ ...opened, log });
  const { fingerprint, dimensions, prefixes } = opened.model;
  const embedder = (prefix: string): Embedder =>
    prefixed(
      {
        ...{ fingerprint, dimensions },
        embed: async (texts, cancel) => {
          const { vectors, tokens } = await runner.embed(texts, cancel);
          return { vectors, usage: { promptTokens: tokens, completionTokens: 0 } } satisfies Embedded;
        },
      },
      prefix,
    );
  return {
    documents: embedder(prefixes.document),
    queries: embedder(prefixes.query),
    ready: runner.ready,
    close: runner.close,
  };
}

type Opened = Omit<Parameters<typeof localRunner>[0], 'log'>;

function named(name: string, { prefixes, dataDir, hub }: LocalOptions): Opened {
  const known = KNOWN_MODELS.find((one) => one.name === name) ?? KNOWN_MODELS[0];
  const folder = join(dataDir, MODELS, known.name);
  const files = [known.tokenizer, known.model];
  const prepare = async (onProgress: OnProgress, signal: AbortSignal): Promise<void> => {
    const missing = await missingOf(files, folder);
    if (missing.length > 0) await download({ files: missing, folder, hub, onProgress, signal });
  };
  return { model: knownModel(known, folder, prefixes), prepare };
}

/** Of the data folder: where models are kept. */
const MODELS = 'models';

async function inFolder(folder: string, { prefixes, dataDir, log }: LocalOptions): Promise<Opened> {
  const notes = join(dataDir, MODELS, 'folders.json');
  const key = JSON.stringify([folder, prefixes]);
  const found = await modelInFolder(folder, prefixes).catch((error: unknown) => error as Error);
  const model = found instanceof Error ? await noted(notes, key, found) : found;
  if (!(found instanceof Error)) {
    await note(notes, { ...(await notesIn(notes)), [key]: model }).catch((error: unknown) =>
      log.warn({ error: String(error) }, 'could not record which embedding model is in use'),
    );
  }
  const prepare = async (): Promise<void> => {
    const now = await modelInFolder(folder, prefixes);
    if (now.fingerprint === model.fingerprint) return;
    throw new Error(`${folder} contains another model than when this process started; restart the process to use it`);
  };
  return { model, prepare };
}

/**
 * What a folder had in it when it could be read last: with that, a process starts although the folder is away, and its index stays
 * as it is. One that never could be read is a mistake in the settings.
 */
async function noted(notes: string, key: string, problem: Error): Promise<LocalModel> {
  const model = (await notesIn(notes))[key];
  if (model !== undefined) return model;
  throw new EngineError(problem.message, { code: 'model_misconfigured', retryable: false, cause: problem });
}

type Notes = Readonly<Record<string, LocalModel>>;

const notesIn = (path: string): Promise<Notes> =>
  readFile(path, 'utf8').then(
    (text) => JSON.parse(text) as Notes,
    () => ({}),
  );

async function note(path: string, notes: Notes): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, JSON.stringify(notes));
}
