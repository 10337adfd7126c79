import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Cancellation,
  type Embedded,
  type Embedder,
  EngineError,
  estimateTokens,
  type Log,
} from '@slowwave/engine';
import { INSTALLED } from '../config/environment.ts';
import { type GivenPrefixes, MISCONFIGURED, type Pooling, prefixed } from '../conventions.ts';
import { startThread, type Thread } from '../system/system.ts';
import { KNOWN_MODELS } from './known.ts';
import { download, knownModel, type LocalModel, missingOf, modelInFolder, type OnProgress } from './model.ts';

/** Where a local model comes from: one that is known by its name, or whatever is in a folder. */
export type LocalSource = { readonly name: string } | { readonly folder: string };

interface LocalOptions {
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

/** A model of this process, loaded when it is first asked for. While it is not there, texts wait or are found by their words. */
export interface Runner {
  embed(texts: readonly string[], cancel: Cancellation): Promise<LocalVectors>;
  /** Loads it, downloaded before if need be. Rejects with the reason if it cannot be. */
  ready(onProgress: OnProgress): Promise<void>;
  close(): Promise<void>;
}

interface RunnerOptions {
  readonly model: LocalModel;
  /** Sees to it that the files are there and the right ones. Called before each try to load them. */
  readonly prepare: (onProgress: OnProgress, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
  /** The script of its thread. */
  readonly thread?: URL;
}

/** A package of its own, because it is as large as all the others together: it is only installed where it is wanted. */
const THREAD = new URL('../../../local-embedder/src/local-embedder-thread.ts', import.meta.url);

/**
 * idle     nobody has asked yet, or its thread has ended
 * loading  files are checked, downloaded and loaded; while they are downloaded nobody waits for them
 * loaded   it answers
 * failed   with the reason; the next question after a while tries again, so that a mended cause needs no restart
 */
type State =
  | { readonly kind: 'idle' }
  | ({ readonly kind: 'loading' } & Loading)
  | { readonly kind: 'loaded'; readonly thread: Thread }
  | { readonly kind: 'failed'; readonly error: EngineError; readonly until: number };

interface Loading {
  readonly thread: Promise<Thread>;
  /** Settles with the first step of a download. */
  readonly download: PromiseWithResolvers<void>;
  percent: number | null;
}

export function localRunner({ model, prepare, log, thread: script = THREAD }: RunnerOptions): Runner {
  const closing = new AbortController();
  const listeners = new Set<OnProgress>();
  let state: State = { kind: 'idle' };

  /** Whoever listens is told of every step, the log of every tenth. */
  const told = (loading: Loading, { done, total }: Record<'done' | 'total', number>): void => {
    const percent = Math.floor((100 * done) / total);
    if (Math.floor((loading.percent ?? -1) / 10) < Math.floor(percent / 10))
      log.info({ model: model.name, percent }, 'downloading the embedding model');
    loading.percent = percent;
    loading.download.resolve();
    for (const listener of listeners) listener(done, total);
  };
  const load = (): Loading => {
    const download = Promise.withResolvers<void>();
    const loading: Loading = {
      thread: Promise.resolve().then(() => prepareAndStart((done, total) => told(loading, { done, total }))),
      download,
      percent: null,
    };
    state = Object.assign(loading, { kind: 'loading' as const });
    loading.thread.then(
      (thread) => {
        state = { kind: 'loaded', thread };
        log.info({ model: model.name }, 'the embedding model is loaded');
        void thread.gone.then(() => {
          state = { kind: 'idle' };
        });
      },
      (error: EngineError) => {
        state = { kind: 'failed', error, until: performance.now() + MISCONFIGURED.retryAfterMs };
        if (closing.signal.aborted) return;
        log.error({ model: model.name, error: error.message }, 'the embedding model cannot be loaded');
      },
    );
    return loading;
  };
  const prepareAndStart = async (onProgress: OnProgress): Promise<Thread> => {
    try {
      closing.signal.throwIfAborted();
      await prepare(onProgress, closing.signal);
      closing.signal.throwIfAborted();
      return await startThread(script, model.init);
    } catch (error) {
      throw unloadable(model, error);
    }
  };
  /** What is being loaded, or what was; loaded anew where that failed a while ago. */
  const current = (): Loading | Thread => {
    if (state.kind === 'loaded') return state.thread;
    if (state.kind === 'failed' && performance.now() < state.until) throw state.error;
    return state.kind === 'loading' ? state : load();
  };
  const run = batches(async (texts) => {
    const loaded = await threadOf(model, current());
    try {
      return await loaded.call<Awaited<ReturnType<LocalThreadMethods['embed']>>>('embed', texts);
    } catch (error) {
      throw broken(model, error);
    }
  });

  return {
    embed: run,
    ready: async (onProgress) => {
      listeners.add(onProgress);
      try {
        const now = current();
        if ('download' in now) await now.thread;
      } finally {
        listeners.delete(onProgress);
      }
    },
    close: async () => {
      closing.abort(new Error('it is being closed'));
      if (state.kind === 'loading') await state.thread.catch(() => {});
      if (state.kind === 'loaded') await state.thread.close();
    },
  };
}

/** Waits while the model is loaded, and not while it is downloaded. */
async function threadOf(model: LocalModel, now: Loading | Thread): Promise<Thread> {
  if ('call' in now) return now;
  const begun = now.download.promise.then(() => {
    throw downloading(model, now.percent);
  });
  return Promise.race([now.thread, begun]);
}

const downloading = ({ name }: LocalModel, percent: number | null): EngineError =>
  new EngineError(
    `the embedding model ${name} is being downloaded (${percent ?? 0}%); keywords are used until it is ready`,
    {
      ...MISCONFIGURED,
      retryAfterMs: DOWNLOAD_LOOK_MS,
    },
  );

/** How soon work looks again whether a download has ended. */
const DOWNLOAD_LOOK_MS = 5_000;

const HOW_TO_INSTALL = INSTALLED
  ? 'start once with npx -p slowwave -p onnxruntime-node -p @huggingface/tokenizers slowwave start, or install them as slowwave was'
  : 'start with ./scripts/start --embedding-model local once, which installs them, or run: ' +
    'npx pnpm install --filter "@slowwave/local-embedder..."';

/** Codes of what is not installed. */
const MISSING = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'];

/** One sentence of what is wrong and one of what to do. */
function unloadable({ name, init }: LocalModel, cause: unknown): EngineError {
  const [code, text] = [codeOf(cause), cause instanceof Error ? rootOf(cause) : String(cause)];
  const problem = MISSING.includes(code)
    ? `the packages that run it are not installed; ${HOW_TO_INSTALL}`
    : code === 'ERR_DLOPEN_FAILED'
      ? `onnxruntime-node does not run on this machine (${text}); use an embedding model on a server`
      : NO_SPACE.includes(code)
        ? `the disk is full (${text}); free some space, or move SLOWWAVE_DATA_DIR`
        : text.replace(LOADING, `${init.model} is not a model that can be run: `);
  return new EngineError(`the embedding model ${name} cannot be loaded: ${problem}`, { ...MISCONFIGURED, cause });
}

const NO_SPACE = ['ENOSPC', 'EDQUOT'];
/** How onnxruntime begins what it says of a file. */
const LOADING = /^Load model from .*? failed:\s*/su;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** The message at the bottom of a chain of causes: at the top of a failed fetch it only says that it failed. */
function rootOf(error: Error): string {
  let root = error;
  while (root.cause instanceof Error) root = root.cause;
  return root === error ? error.message : `${error.message} (${root.message})`;
}

/** Its thread has ended, or a text is beyond it: then the others have to be asked apart. */
const broken = ({ name }: LocalModel, cause: unknown): EngineError =>
  new EngineError(`the embedding model ${name} failed: ${cause instanceof Error ? cause.message : String(cause)}`, {
    code: 'model_server_error',
    retryable: true,
    cause,
  });

/** Texts that are computed together: more make it no faster. */
const BATCH_TEXTS = 16;
/** Tokens that are, with those that fill shorter texts up: less than a second, for which a question may have to wait. */
const BATCH_TOKENS = 1_024;

type Run = (texts: readonly string[]) => Promise<LocalVectors>;

interface Waiting {
  readonly texts: readonly string[];
  /** All that its call is about. */
  readonly alone: boolean;
  readonly cancel: Cancellation;
  done(vectors: LocalVectors): void;
  failed(error: unknown): void;
}

/**
 * Has texts computed in batches of similar length, one batch at a time. Calls of one batch, as a question is, go before the
 * batches of longer ones, for which nobody stands and waits. What is cancelled is left out.
 */
export function batches(run: Run): (texts: readonly string[], cancel: Cancellation) => Promise<LocalVectors> {
  const waiting: Waiting[] = [];
  let working = false;
  const work = async (): Promise<void> => {
    working = true;
    for (let next = take(waiting); next !== undefined; next = take(waiting)) {
      if (next.cancel.aborted) next.failed(cancelled());
      else await run(next.texts).then(next.done, next.failed);
    }
    working = false;
  };
  const enter = (asked: Omit<Waiting, 'done' | 'failed'>): Promise<LocalVectors> => {
    const { promise, resolve, reject } = Promise.withResolvers<LocalVectors>();
    waiting.push({ ...asked, done: resolve, failed: reject });
    if (!working) void work();
    return promise;
  };
  return async (texts, cancel) => {
    const parts = inBatches(texts);
    const alone = parts.length === 1;
    const found = await Promise.all(parts.map((part) => enter({ texts: part.map(({ text }) => text), alone, cancel })));
    const vectors = new Array<Float32Array>(texts.length);
    parts.forEach((part, i) => {
      part.forEach(({ at }, j) => {
        vectors[at] = found[i]?.vectors[j] ?? new Float32Array();
      });
    });
    return { vectors, tokens: found.reduce((sum, { tokens }) => sum + tokens, 0) };
  };
}

function take(waiting: Waiting[]): Waiting | undefined {
  const short = waiting.findIndex(({ alone }) => alone);
  return waiting.splice(Math.max(0, short), 1)[0];
}

interface Placed {
  readonly text: string;
  /** Its place among the texts that were given. */
  readonly at: number;
}

/** Short texts are not filled up to the length of long ones: they are computed with their like. */
function inBatches(texts: readonly string[]): readonly (readonly Placed[])[] {
  const sorted = texts
    .map((text, at) => ({ text, at, tokens: estimateTokens(text) }))
    .sort((a, b) => a.tokens - b.tokens);
  const groups: Placed[][] = [];
  for (const { tokens, ...placed } of sorted) {
    const last = groups.at(-1);
    if (last === undefined || last.length === BATCH_TEXTS || (last.length + 1) * tokens > BATCH_TOKENS)
      groups.push([placed]);
    else last.push(placed);
  }
  return groups;
}

const cancelled = (): EngineError =>
  new EngineError('the texts were not embedded, because no request is waiting for them any more', {
    code: 'cancelled',
    retryable: true,
  });

/** What the thread of a local model is started with. */
export interface LocalThreadInit {
  /** Paths of the ONNX file and of tokenizer.json. */
  readonly model: string;
  readonly tokenizer: string;
  readonly pooling: Pooling;
  /** Tokens of one text, those that begin and end it included; the rest is left out. */
  readonly maxTokens: number;
  readonly dimensions: number;
}

/** Vectors of unit length, one for each text, in their order. */
export interface LocalVectors {
  readonly vectors: readonly Float32Array[];
  readonly tokens: number;
}

/** What the thread answers. */
export interface LocalThreadMethods {
  embed(texts: readonly string[]): Promise<LocalVectors>;
}
