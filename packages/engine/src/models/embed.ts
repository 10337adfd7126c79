import type { EngineDeps } from '../deps.ts';
import { asEngineError, EngineError, type EngineErrorCode } from '../errors.ts';
import { type Embedded, type Embedder, NOTHING_USED } from '../ports/models.ts';
import { askedInSlices, type Cancellation, type Tools } from '../ports/tools.ts';
import type { LaneId } from '../words.ts';
import { embedderAnswers } from './away.ts';
import { roundedVector } from './vectors.ts';

type EmbeddingDeps = Pick<EngineDeps, 'ledger' | 'embedder' | 'tools'>;

/** Half of a hash: what tells texts of one owner apart stands with each vector. */
const HASH_DIGITS = 32;

/** By what the ledger knows a text whose vector it keeps. */
export const textHash = ({ hash }: Pick<Tools, 'hash'>, text: string): string => hash(text).slice(0, HASH_DIGITS);

interface Embedding {
  readonly lane: LaneId;
  /** Asked for again and again: vectors made before come from the ledger, new ones are kept there. */
  readonly texts: readonly string[];
  /** Needed this once: kept nowhere, unless the model refuses them. */
  readonly passing?: readonly string[];
  /** Vectors that were made before; those of lasting texts are kept already. */
  readonly made?: ReadonlyMap<string, Float32Array> | undefined;
}

/** Texts of one call of the embedder: what is done is kept, also where a later call fails. */
const TEXTS_PER_CALL = 64;

/**
 * Embeds texts of a lane, each at most once, also where others of this process need the same ones now. One that the model
 * refuses for good has a vector of zeros, which nothing is like: it is found by its words. The ledger remembers that, so that
 * the model is not asked again.
 */
export async function embedTexts(
  deps: EmbeddingDeps,
  of: Embedding,
  cancel: Cancellation,
): Promise<(text: string) => Float32Array> {
  const { made } = of;
  const texts = [...of.texts, ...(of.passing ?? [])].filter((text) => made?.has(text) !== true);
  return inTurn({ ...deps, lane: of.lane, texts, cancel }, (held) => embedHeld(deps, { ...of, held }, cancel));
}

/** Has these texts to itself, in this process, until the work is done. What asks no model waits for nobody. */
export const inTurn = <T>(taken: Taken, work: (held: Held) => Promise<T>): Promise<T> =>
  WITHOUT_VECTORS.has(taken.embedder) ? work(new Map()) : textsInTurn(taken, work);

/** Embeds texts that whoever asks has to itself. */
export async function embedHeld(
  deps: EmbeddingDeps,
  { lane, texts, passing = [], made = new Map(), held }: Embedding & { readonly held: Held },
  cancel: Cancellation,
): Promise<(text: string) => Float32Array> {
  const { ledger, embedder, tools } = deps;
  const { fingerprint } = embedder;
  const lasting = new Set(texts);
  const begun = passing.length === 0 ? [] : [...takeBegun(tools, `${lane} ${fingerprint}`)];
  const vectors = new Map([...begun.filter(([text]) => !lasting.has(text)), ...made]);
  const others = [...lasting, ...passing].filter((text) => !vectors.has(text));
  const hashes = new Map(others.map((text) => [text, textHash(tools, text)]));
  const ask = (some: readonly string[]) => ledger.thoughts.vectors(lane, fingerprint, some);
  const known = new Map(await askedInSlices(tools, [...hashes.values()], ask));
  const none = new Float32Array(embedder.dimensions);
  for (const [text, hash] of hashes) {
    const vector = known.get(hash);
    if (vector !== undefined) vectors.set(text, vector ?? none);
  }
  const keep = async (found: readonly [string, Float32Array | null][]): Promise<void> => {
    const kept = found.flatMap(([text, vector]) =>
      vector === null || lasting.has(text) ? pair(hashes.get(text), vector) : [],
    );
    if (kept.length > 0) await ledger.thoughts.storeVectors(lane, fingerprint, new Map(kept));
    for (const [text, vector] of found) vectors.set(text, vector ?? none);
  };
  await keep([...held].filter(([text]) => hashes.has(text) && !vectors.has(text)));
  const missing = [...hashes.keys()].filter((text) => !vectors.has(text));
  for (let at = 0; at < missing.length; ) {
    const found = await embedded(embedder, missing.slice(at, at + TEXTS_PER_CALL), cancel).catch((error: unknown) => {
      const left = passing.flatMap((text) => pair(text, made.has(text) ? undefined : vectors.get(text)));
      keepBegun(tools, `${lane} ${fingerprint}`, new Map(left));
      throw at === 0 ? error : whichWentOn(error);
    });
    for (const [text, vector] of found) if (vector !== null) held.set(text, vector);
    await keep(found);
    at += found.length;
  }
  return (text) => {
    const vector = vectors.get(text);
    if (vector === undefined) throw new Error('a text was asked for that was not embedded');
    return vector;
  };
}

/** At least the first of the texts. */
async function embedded(
  embedder: Embedder,
  texts: readonly string[],
  cancel: Cancellation,
): Promise<[string, Float32Array | null][]> {
  const { vectors } = await embedder.embed(texts, cancel);
  if (vectors.length > 0) return texts.flatMap((text, i) => pair(text, vectors[i] && roundedVector(vectors[i])));
  throw new EngineError(`expected vectors from ${embedder.fingerprint}, got none`, {
    code: 'model_server_error',
    retryable: true,
  });
}

/** The next try asks for fewer texts, so that it is none of those that a batch has. */
function whichWentOn(error: unknown): unknown {
  const { message, code, retryable, retryAfterMs } = asEngineError(error);
  return retryable
    ? new EngineError(message, {
        ...{ code, retryable, countsAsTry: false, cause: error },
        ...(retryAfterMs === null ? {} : { retryAfterMs }),
      })
    : error;
}

/**
 * Vectors of passing texts that were made before their call failed, by lane and space, for the next try of this process. Nobody
 * else keeps them; those of the lanes that failed longest ago are given up first.
 */
const BEGUN = new WeakMap<Tools, Map<string, ReadonlyMap<string, Float32Array>>>();
/** Of all vectors together: 32 MB. */
const BEGUN_NUMBERS_MAX = 8_000_000;

function takeBegun(tools: Tools, place: string): ReadonlyMap<string, Float32Array> {
  const begun = BEGUN.get(tools)?.get(place) ?? new Map();
  BEGUN.get(tools)?.delete(place);
  return begun;
}

function keepBegun(tools: Tools, place: string, vectors: ReadonlyMap<string, Float32Array>): void {
  if (vectors.size === 0) return;
  const all = BEGUN.get(tools) ?? new Map<string, ReadonlyMap<string, Float32Array>>();
  BEGUN.set(tools, all);
  all.set(place, vectors);
  let numbers = 0;
  for (const [other, of] of [...all].reverse()) {
    numbers += [...of.values()].reduce((sum, { length }) => sum + length, 0);
    if (numbers > BEGUN_NUMBERS_MAX) all.delete(other);
  }
}

const pair = <T>(key: string | undefined, value: T | undefined): [string, T][] =>
  key === undefined || value === undefined ? [] : [[key, value]];

/** A vector for each of a few texts that are kept nowhere. */
export async function embedAll(
  embedder: Embedder,
  texts: readonly string[],
  cancel: Cancellation,
): Promise<(Float32Array | null)[]> {
  const all: (Float32Array | null)[] = [];
  while (all.length < texts.length) {
    const found = await embedded(embedder, texts.slice(all.length), cancel);
    all.push(...found.map(([, vector]) => vector));
  }
  return all;
}

/** Embedders that make no vectors. */
const WITHOUT_VECTORS = new WeakSet<Embedder>();

/** Nothing is embedded that was not before; what has no vector then goes by its words, and is not held to be refused. */
export function withoutVectors<Deps extends Pick<EngineDeps, 'ledger' | 'embedder'>>(deps: Deps): Deps {
  const embedder: Embedder = {
    ...deps.embedder,
    embed: async (texts) => ({ vectors: texts.map(() => null), usage: NOTHING_USED }),
  };
  WITHOUT_VECTORS.add(embedder);
  return {
    ...deps,
    embedder,
    ledger: { ...deps.ledger, thoughts: { ...deps.ledger.thoughts, storeVectors: async () => {} } },
  };
}

/** The vector as a question to the index; null for one of zeros, which could only bring what is like nothing. */
export const askedBy = (vector: Float32Array): Float32Array | null =>
  vector.some((value) => value !== 0) ? vector : null;

/** Quick failures that may be of a text. What times out is not asked for again and again: each time would be as long. */
const MAY_BE_OF_A_TEXT: readonly EngineErrorCode[] = ['model_server_error', 'model_unreachable', 'model_rejected'];

/**
 * For texts on which a model has failed several times though it answers others: some servers break on a text instead of
 * refusing it. What fails together is asked apart, by halves; what fails alone is held to be refused.
 */
export const embedApart = (embedder: Embedder): Embedder => ({
  ...embedder,
  embed: (texts, cancel) => apart(embedder, texts, cancel),
});

async function apart(embedder: Embedder, texts: readonly string[], cancel: Cancellation): Promise<Embedded> {
  try {
    return await embedder.embed(texts, cancel);
  } catch (error) {
    const { code, countsAsTry } = asEngineError(error);
    if (cancel.aborted || !countsAsTry || !MAY_BE_OF_A_TEXT.includes(code)) throw error;
    if (!(await embedderAnswers({ embedder }, cancel))) throw error;
    if (texts.length === 1) return { vectors: [null], usage: NOTHING_USED };
    return apart(embedder, texts.slice(0, Math.ceil(texts.length / 2)), cancel);
  }
}

interface Taken {
  readonly tools: Tools;
  readonly embedder: Embedder;
  readonly lane: LaneId;
  readonly texts: readonly string[];
  readonly cancel: Cancellation;
}

/** Vectors of the texts: those that others have made meanwhile, and those that whoever has the texts adds. */
export type Held = Map<string, Float32Array>;

/** The last in the line of each text of a lane and a space. It leaves the vector that it made, if it made one. */
const LINES = new WeakMap<Tools, Map<string, Promise<Float32Array | undefined>>>();

/**
 * One at a time in this process asks for a text of a lane in a space, and keeps its vector; who comes meanwhile waits, and finds
 * it made. All places are taken at once, in the order of arrival, so that nobody waits for somebody who waits for them.
 */
async function textsInTurn<T>(
  { tools, embedder, lane, texts, cancel }: Taken,
  work: (held: Held) => Promise<T>,
): Promise<T> {
  const lines = LINES.get(tools) ?? new Map<string, Promise<Float32Array | undefined>>();
  LINES.set(tools, lines);
  const places = [...new Set(texts)].map((text) => ({ text, line: `${embedder.fingerprint} ${lane} ${text}` }));
  const before = places.flatMap(({ text, line }) => {
    const last = lines.get(line);
    return last === undefined ? [] : [last.then((vector) => ({ text, vector }))];
  });
  const held: Held = new Map();
  const others = Promise.all(before).then((made) => {
    for (const { text, vector } of made) if (vector !== undefined) held.set(text, vector);
  });
  const done = Promise.withResolvers<void>();
  const ended = Promise.all([others, done.promise]);
  for (const { text, line } of places) {
    const mine = ended.then(() => {
      if (lines.get(line) === mine) lines.delete(line);
      return held.get(text);
    });
    lines.set(line, mine);
  }
  try {
    if (before.length > 0) await awaited(embedder.inTime?.(others) ?? others, cancel);
    return await work(held);
  } finally {
    done.resolve();
  }
}

/** Whoever is cancelled leaves; those behind wait for those before. */
async function awaited(others: Promise<void>, cancel: Cancellation): Promise<void> {
  const left = Promise.withResolvers<never>();
  const leave = (): void =>
    left.reject(
      new EngineError('the texts were being embedded by other work; this one was cancelled', {
        ...{ code: 'cancelled', retryable: true, countsAsTry: false, cause: cancel.reason },
      }),
    );
  if (cancel.aborted) leave();
  cancel.addEventListener('abort', leave, { once: true });
  try {
    await Promise.race([others, left.promise]);
  } finally {
    cancel.removeEventListener('abort', leave);
  }
}
