import { builtinEmbedder } from '@slowwave/builtin-model';
import {
  type Breaker,
  type ChatModel,
  type Embedder,
  type EngineDeps,
  HASHED,
  isoOf,
  LEARNT,
  type Ledger,
  type Limiter,
  type Log,
  type ModelStore,
  type NamedEmbedder,
  type Reranker,
} from '@slowwave/engine';
import type { Config, ModelAt } from '../config/index.ts';
import { chosenPrefixes, conventionsOf, digestOf, type Prefixes, prefixed } from '../conventions.ts';
import {
  type BreakingChat,
  type BreakingEmbedder,
  breakingChat,
  breakingEmbedder,
  FALLBACK_POLICY,
  limitedChat,
  memoryLimiter,
  postgresLimiter,
  redisLimiter,
} from '../limits/index.ts';
import type { OnProgress } from '../local/model.ts';
import { countWaits, measureBreakers, meteredEmbedder, meteredReranker } from '../metrics.ts';
import type { ChatOptions, EmbedderOptions } from '../openai/index.ts';
import { endpointReranker } from '../rerank.ts';
import { systemTools } from '../system/system.ts';
import type { Observer } from './observer.ts';
import { connectionShares } from './stores.ts';

/** Loaded only where a server is asked: it is a tenth of all that a process would load. */
export const servers = () => import('../openai/index.ts');

/** What the ledger remembers of models is read before their first question. */
interface With {
  readonly log: Log;
  readonly ledger: Pick<Ledger, 'models'>;
}

interface OnTrial {
  readonly model: string;
  readonly log: Log;
  readonly known: Pick<ModelStore, 'get'>;
}

/** The chat model of the configuration, to be tried: it begins with what is known of it, and what is found out is only told. */
export async function chatOnTrial({ chatServer }: Config, { known, ...asked }: OnTrial) {
  const { knownManners, knownProfile, openaiChat, profileName } = await servers();
  const name = profileName('chat', { ...chatServer, model: asked.model });
  const { takes } = await knownProfile(name, { store: known, now: systemTools.now });
  const manners = knownManners(takes?.manners);
  return {
    open: (more: Pick<ChatOptions, 'maxOutputTokens' | 'watch'>): ChatModel =>
      openaiChat({ ...chatServer, ...asked, ...more, manners }),
    takes: manners.now,
    /** When it was found out what it does not take; null: nothing is known. */
    since: takes === undefined ? null : isoOf(takes.at),
  };
}

export const keepingIn = ({ models }: With['ledger']) => ({ store: models, now: systemTools.now });

/** A ledger that is still being opened. */
export const comingModels = (ledger: Promise<With['ledger']>): ModelStore => ({
  get: async (name) => (await ledger).models.get(name),
  put: async (name, known) => (await ledger).models.put(name, known),
  swap: async (name, before, known) => (await ledger).models.swap(name, before, known),
});

export const pausedName = (key: string): string => `paused ${key}`;

/** Tells the other processes. Nobody waits for it, and a ledger that is away learns of it later. */
const tellPaused =
  (key: string, { models }: With['ledger']) =>
  (ms: number | null) =>
    void models.put(pausedName(key), ms === null ? null : { until: systemTools.now() + ms }).catch(() => {});

/** A search does not wait longer for its results to be put in order. */
const RERANK_LIMIT_MS = 10_000;

export function openReranker({ reranker }: Config, { meter }: Pick<Observer, 'meter'>): Reranker | null {
  if (reranker === null) return null;
  const endpoint = endpointReranker({ ...reranker, timeoutMs: RERANK_LIMIT_MS });
  return meteredReranker(endpoint, { meter, tools: systemTools, model: reranker.model ?? 'reranker' });
}

/** The embedder of the configuration, for what is stored and for what is asked: some models read these differently. */
export interface OpenEmbedder {
  readonly documents: Embedder;
  readonly queries: Embedder;
  /** How its breaker stands; null: it has none, for it is in this process. */
  readonly breaker: BreakingEmbedder['breaker'] | null;
  /** Loads a model of this process, downloaded before if need be. Rejects with the reason if it cannot be. */
  ready(onProgress: OnProgress): Promise<void>;
  close(): Promise<void>;
}

export async function openEmbedder(
  config: Config,
  log: Log,
  { meter, ...opening }: Pick<Observer, 'meter'> & Embedding,
): Promise<OpenEmbedder> {
  const opened = await embedderOf(config, log, opening);
  const metered = (embedder: Embedder): Embedder => meteredEmbedder(embedder, { meter, tools: systemTools });
  return { ...opened, documents: metered(opened.documents), queries: metered(opened.queries) };
}

/** Embedders by the names of their models: of the embedding server, each opened once, or builtin. */
export function embeddersByName(
  config: Config,
  log: Log,
  given: Pick<Observer, 'meter'> & Embedding,
): NonNullable<EngineDeps['otherEmbedder']> {
  const { baseUrl, apiKey } = config.embeddingServer;
  const opened = new Map<string, Promise<NamedEmbedder>>();
  const open = async (model: string): Promise<NamedEmbedder> => {
    const isBuiltin = model === 'builtin';
    const own = { embeddingModel: isBuiltin ? null : model, embeddingDimensions: null, localModel: null };
    const { documents, queries } = await openEmbedder({ ...config, ...own }, log, given);
    return { documents, queries, vectors: isBuiltin ? HASHED : LEARNT };
  };
  return async (model) => {
    if (model !== 'builtin' && baseUrl === null && apiKey === null) return null;
    const known = opened.get(model) ?? open(model);
    opened.set(model, known);
    known.catch(() => opened.delete(model));
    return known;
  };
}

/** A server is there without it. Whoever asks it meanwhile is told why it is not there, and so is the log. */
export function loadInBackground(embedder: Pick<OpenEmbedder, 'ready'>): void {
  embedder.ready(() => {}).catch(() => {});
}

/** What is known of an embedding model before it is asked. */
interface Embedding {
  /** What is found out goes there; null: it is forgotten. */
  readonly models: ModelStore | null;
  /** Of its vectors, where it was asked before. */
  readonly length?: number | null;
}

/** How long the vectors of a server are that has to be asked that; null: it is known, or there is none. */
export async function vectorLength(
  { embeddingModel: model, embeddingDimensions, embeddingServer, localModel }: Config,
  { log, models, withinMs }: Pick<Embedding, 'models'> & { readonly log: Log; readonly withinMs: number },
): Promise<number | null> {
  if (model === null || localModel !== null || embeddingDimensions !== null) return null;
  const timeoutMs = Math.min(withinMs, embeddingServer.timeoutMs);
  return (await serverEmbedder({ ...embeddingServer, model, dimensions: null, timeoutMs, log }, models)).dimensions;
}

async function serverEmbedder(options: EmbedderOptions, models: ModelStore | null): Promise<Embedder> {
  const { openaiEmbedder, profiledEmbedder } = await servers();
  return models === null ? openaiEmbedder(options) : profiledEmbedder(options, keepingIn({ models }));
}

async function embedderOf(config: Config, log: Log, { models, length = null }: Embedding): Promise<OpenEmbedder> {
  const { embeddingModel, embeddingDimensions, embeddingPrefixes, embeddingServer, localModel, dataDir, modelHub } =
    config;
  if (embeddingModel === null) return alike(builtinEmbedder(systemTools, embeddingDimensions ?? undefined));
  if (localModel !== null) {
    const { openLocalEmbedder } = await import('../local/open.ts');
    const source = { source: localModel, prefixes: embeddingPrefixes, dataDir, hub: modelHub, log };
    return { ...(await openLocalEmbedder(source)), breaker: null };
  }
  const vectors = { dimensions: embeddingDimensions, length };
  const embedder = await serverEmbedder({ ...embeddingServer, ...vectors, model: embeddingModel, log }, models);
  const prefixes = chosenPrefixes(conventionsOf(embeddingModel).prefixes, embeddingPrefixes);
  const breaking = breakingEmbedder(embedder, { log });
  return { ...alike(breaking, { ...prefixes, extraBody: embeddingServer.extraBody }), breaker: breaking.breaker };
}

/** What vectors depend on, besides model and dimensions. */
interface Reading extends Prefixes {
  readonly extraBody: Readonly<Record<string, unknown>>;
}

const PLAIN: Reading = { query: '', document: '', extraBody: {} };

/** One embedder for both, but for what it reads before each text. */
function alike(embedder: Embedder, { query, document, extraBody }: Reading = PLAIN): OpenEmbedder {
  const more = Object.keys(extraBody).length === 0 ? [] : [extraBody];
  const space = query + document === '' && more.length === 0 ? '' : `:${digestOf([query, document, ...more])}`;
  const named = { ...embedder, fingerprint: embedder.fingerprint + space };
  const closed = { breaker: null, ready: async () => {}, close: async () => {} };
  return { documents: prefixed(named, document), queries: prefixed(named, query), ...closed };
}

/** Of the tokens a provider allows; the rest is for answers that turn out longer than was thought when they were asked for. */
const TOKENS_SHARE = 0.95;

interface Held {
  /** What it shares its limits under, with other processes. */
  readonly key: string;
  /** Others take its place soon. */
  readonly hasFallbacks: boolean;
}

/** By this name a model is known to its limits: one of the same name on another server has limits of its own. */
export const limitKey = ({ chatServer }: Config, { model, server: { baseUrl } }: ModelAt): string =>
  model === null || baseUrl === chatServer.baseUrl
    ? (model ?? 'builtin')
    : `${model} at ${baseUrl === null ? 'the provider' : new URL(baseUrl).host}`;

/** Holds what is asked of models to what their providers allow and bear. */
export interface Limits {
  /** The model, held so. */
  of(chat: ChatModel, how: Held): BreakingChat;
  /** The embedder holds itself so: only its breaker is shown with the others. */
  watch(embedder: OpenEmbedder): void;
  /** How each model's breaker stands, by the model's name. */
  breakers(): Readonly<Record<string, Breaker['kind']>>;
  close(): Promise<void>;
}

/** All processes on one queue share what the provider allows; each finds out itself whether the provider answers. */
export function openLimits(
  config: Config,
  { log, ledger }: With & { readonly ledger: Pick<Ledger, 'usage' | 'settings'> },
  { registry, meter }: Pick<Observer, 'registry' | 'meter'>,
): Limits {
  const limiter = countWaits(limiterOf(config, log), registry);
  const models: { readonly name: () => string; breaker(): Breaker['kind'] }[] = [];
  const breakers = () => Object.fromEntries(models.map(({ name, breaker }) => [name(), breaker()]));
  measureBreakers(registry, { breakers });
  return {
    of: (chat, { key, hasFallbacks }) => {
      const model = breakingChat(limitedChat(chat, { limiter, log, as: key }), {
        ...{ log, meter, ledger, ...(hasFallbacks && { policy: FALLBACK_POLICY }) },
        paused: tellPaused(key, ledger),
      });
      models.push({ name: () => key, breaker: model.breaker });
      return model;
    },
    watch: ({ documents, breaker }) => {
      if (breaker !== null) models.push({ name: () => documents.fingerprint, breaker });
    },
    breakers,
    close: () => limiter.close(),
  };
}

function limiterOf(config: Config, log: Log): Limiter {
  const { redisUrl, redisNodes, databaseUrl, limits } = config;
  const { requestsPerMinute, tokensPerMinute } = limits;
  const held = {
    requestsPerMinute,
    tokensPerMinute: tokensPerMinute === null ? null : Math.floor(tokensPerMinute * TOKENS_SHARE),
  };
  if (redisUrl !== null) return redisLimiter(redisUrl, held, redisNodes);
  if (databaseUrl !== null) {
    return postgresLimiter({ url: databaseUrl, log, connections: connectionShares(config).limits }, held);
  }
  return memoryLimiter(held);
}
