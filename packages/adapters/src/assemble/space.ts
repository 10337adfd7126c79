import {
  currentMove,
  type Embedder,
  EngineError,
  type IndexMarker,
  type Ledger,
  type Log,
  type ModelStore,
  type SearchIndex,
} from '@slowwave/engine';
import type { Config } from '../config/index.ts';
import { MISCONFIGURED } from '../conventions.ts';
import { type OpenEmbedder, openEmbedder, vectorLength } from './models.ts';
import { indexBy, movingSpace, refuseOther, type Sides } from './moving-space.ts';
import type { Observer } from './observer.ts';
import { type IndexPlace, movedIndex, openIndex, openOn, otherPlace, placeBy } from './stores.ts';

/** The embedder of the configuration, and the index of its vectors. */
export interface Space {
  readonly embedder: OpenEmbedder;
  readonly index: SearchIndex;
}

export interface OpenSpace extends Space {
  /** The two that it consists of, where the index may be moved; null: it is one. */
  readonly sides: Sides | null;
  /** Makes the index the own one of whoever calls it: now, and once more when it is replaced because its vectors became known. */
  adopt(run: Adopting): Promise<void>;
  close(): Promise<void>;
}

interface Given extends Pick<Observer, 'meter'> {
  /** What is found out about the embedding model is kept there. */
  readonly models: ModelStore;
  readonly ledger: Promise<Ledger>;
}

type Adopting = (space: { readonly index: SearchIndex; readonly embedder: Embedder }) => Promise<void>;

/** A process starts though its embedding server is away: nobody waits longer for it. */
const ANSWERS_WITHIN_MS = 10_000;

/** The space of the configuration; and that of the next embedder with it, where one is named. */
export async function openSpace(config: Config, log: Log, given: Given): Promise<OpenSpace> {
  const { models } = given;
  const [move, moved] = [await currentMove({ ledger: { models } }), await movedIndex(models)];
  const { nextEmbedding: next } = config;
  const placeOf = placeBy(moved);
  const from = await openOneSpace(config, log, { ...given, placeOf });
  const own = from.embedder.documents.fingerprint;
  try {
    refuseOther(move, own, next !== null);
    if (next === null) return from;
    const beside = { ...given, placeOf: () => otherPlace(placeOf(own)) };
    const to = await openOneSpace({ ...config, ...next }, log, beside);
    return await openOn([to], movingSpace(config, { from, to }, { ledger: given.ledger, log }));
  } catch (error) {
    await from.close();
    throw error;
  }
}

interface Placed extends Given {
  /** Where the index of an embedder is. */
  readonly placeOf: (fingerprint: string) => IndexPlace;
}

/**
 * How long vectors are is known before an index is opened: by the settings, by the embedding server, or, while that is away, by
 * the index. Where nobody knows it yet, texts go by words until the server is back.
 */
async function openOneSpace(config: Config, log: Log, { placeOf, ...given }: Placed): Promise<OpenSpace> {
  const open = async (length: number | null): Promise<Space> => {
    const embedder = await openEmbedder(config, log, { ...given, length });
    const place = placeOf(embedder.documents.fingerprint);
    return { embedder, index: await openOn([embedder], openIndex(config, { ...embedder.documents, place }, log)) };
  };
  const ask = () => vectorLength(config, { log, models: given.models, withinMs: ANSWERS_WITHIN_MS });
  const length = await ask().catch((error: unknown) => asUnanswered(error));
  if (!(length instanceof EngineError)) return settled(await open(length));
  const unknown = unknownSpace(config);
  const place = placeOf(unknown.fingerprint);
  const index = await openIndex(config, { ...unknown, place }, unsurprised(log));
  const marker = await openOn([index], index.marker());
  const known = lengthIn(marker, config);
  const problem = { error: length.message };
  if (known === null && isOutage(length)) {
    log.warn(
      problem,
      'the embedding server is unavailable; until it is back, searches use keywords only and consolidations wait',
    );
    return late({ embedder: nobody(unknown), index }, { open, ask, log, config });
  }
  await index.close();
  if (known === null) throw length;
  log.warn(
    { ...problem, dimensions: known },
    'the embedding server is unavailable; the length of its vectors is taken from the index',
  );
  return settled(await open(known));
}

function asUnanswered(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  throw error;
}

/** What somebody has to mend is better said at once. */
const isOutage = ({ retryable, code }: EngineError): boolean => retryable && code !== 'model_misconfigured';

const settled = ({ embedder, index }: Space): OpenSpace => ({
  ...{ embedder, index, sides: null },
  adopt: (run) => run({ index, embedder: embedder.documents }),
  close: () => closed({ embedder, index }),
});

async function closed({ embedder, index }: Space): Promise<void> {
  await index.close();
  await embedder.close();
}

/** As short as vectors may be: nothing but words is ever found in an index of these. */
const UNKNOWN_LENGTH = 8;

const unknownSpace = ({ embeddingModel }: Config): Pick<Embedder, 'fingerprint' | 'dimensions'> => ({
  fingerprint: `openai:${embeddingModel}:unknown`,
  dimensions: UNKNOWN_LENGTH,
});

/**
 * How long the vectors of this model are in an index that was made with it; null: it was made with another one, or is new. Names
 * of models may have colons and numbers in them; after the length there is a digest of the prefixes, or nothing.
 */
export function lengthIn(
  marker: Pick<IndexMarker, 'fingerprint'> | null,
  { embeddingModel }: Pick<Config, 'embeddingModel'>,
): number | null {
  const [, after] = marker?.fingerprint.split(`openai:${embeddingModel}:`, 2) ?? [];
  const [, digits] = /^(\d+)(?::[0-9a-f]{12})?(?![^,"])/.exec(after ?? '') ?? [];
  return digits === undefined ? null : Number(digits);
}

/** That an index is for vectors of another length says nothing while nobody knows which one is right. */
const unsurprised = (log: Log): Log => ({
  debug: (fields, message) => log.debug(fields, message),
  info: (fields, message) => log.info(fields, message),
  warn: (fields, message) => log.debug(fields, message),
  error: (fields, message) => log.error(fields, message),
});

function nobody(space: Pick<Embedder, 'fingerprint' | 'dimensions'>): OpenEmbedder {
  const embedder: Embedder = { ...space, embed: () => Promise.reject(away()) };
  return { documents: embedder, queries: embedder, breaker: null, ready: async () => {}, close: async () => {} };
}

interface Finding {
  readonly open: (length: number | null) => Promise<Space>;
  readonly ask: () => Promise<number | null>;
  readonly log: Log;
  readonly config: Config;
}

/** So often the server is asked whether it is back while nobody wants vectors. */
const AGAIN_MS = 5_000;

/**
 * A space that is replaced when the embedding server is back. Who makes the index its own asks the server; the others follow
 * when the index has been made for its vectors, so that none of them reads the old one as a new one.
 */
function late(first: Space, { open, ask, log, config }: Finding): OpenSpace {
  let now = first;
  let learning: Promise<void> | null = null;
  let last: Promise<void> = Promise.resolve();
  const adopting: Adopting[] = [];
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
  const replace = async (): Promise<void> => {
    if (now !== first) return;
    const next = await open(await (adopting.length > 0 ? ask().catch(asWaiting) : lengthOf(first.index, config)));
    await openOn([next.index, next.embedder], adoptBy(adopting, next));
    now = next;
    clearInterval(again);
    log.info({ space: next.embedder.documents.fingerprint }, 'the embedding server is back');
    await closed(first);
  };
  const learn = (): Promise<void> => {
    learning ??= inTurn(replace).finally(() => {
      learning = null;
    });
    return learning;
  };
  const again = setInterval(() => void learn().catch(() => {}), AGAIN_MS).unref();
  const embedder = (of: 'documents' | 'queries'): Embedder => ({
    get fingerprint() {
      return now.embedder[of].fingerprint;
    },
    get dimensions() {
      return now.embedder[of].dimensions;
    },
    embed: async (texts, cancel) => {
      if (now !== first) return now.embedder[of].embed(texts, cancel);
      await learn();
      throw justBack();
    },
  });
  return {
    embedder: {
      documents: embedder('documents'),
      queries: embedder('queries'),
      breaker: () => now.embedder.breaker?.() ?? 'closed',
      ready: (onProgress) => now.embedder.ready(onProgress),
      close: () => now.embedder.close(),
    },
    index: indexBy(() => now.index),
    sides: null,
    adopt: (run) =>
      inTurn(async () => {
        await adoptBy([run], now);
        adopting.push(run);
      }),
    close: async () => {
      clearInterval(again);
      await last;
      await closed(now);
    },
  };
}

/** How long its vectors are, once somebody has made it for those of this model. */
async function lengthOf(index: SearchIndex, config: Config): Promise<number> {
  const length = lengthIn(await index.marker(), config);
  if (length === null) throw away();
  return length;
}

/** No text is at fault, whatever the server says. */
function asWaiting(error: unknown): never {
  const { message, retryable } = asUnanswered(error);
  throw retryable ? error : new EngineError(message, { ...MISCONFIGURED, cause: error });
}

async function adoptBy(adopting: readonly Adopting[], { index, embedder }: Space): Promise<void> {
  for (const run of adopting) await run({ index, embedder: embedder.documents });
}

const NOT_YET = { code: 'model_unreachable', retryable: true, countsAsTry: false } as const;

const away = (): EngineError =>
  new EngineError('the embedding server is unavailable, and the length of its vectors is not known yet', NOT_YET);

/** The texts are in no index of these vectors yet: whoever asked begins anew. */
const justBack = (): EngineError =>
  new EngineError('the embedding server is available again; the work is repeated', { ...NOT_YET, retryAfterMs: 0 });
