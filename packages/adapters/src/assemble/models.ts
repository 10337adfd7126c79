import { builtinChat, builtinEmbedder } from '@slowwave/builtin-model';
import type { ModelView } from '@slowwave/contracts';
import {
  type Breaker,
  type ChatModel,
  type Embedder,
  isCopying,
  isoOf,
  knownCopying,
  type Ledger,
  type Limiter,
  type Log,
  type ModelStore,
  type Reranker,
} from '@slowwave/engine';
import type { Config } from '../config/index.ts';
import { conventionsOf } from '../conventions.ts';
import {
  type BreakingEmbedder,
  breakingChat,
  breakingEmbedder,
  limitedChat,
  memoryLimiter,
  postgresLimiter,
  redisLimiter,
} from '../limits/index.ts';
import type { OnProgress } from '../local/index.ts';
import { countWaits, measureBreakers, meteredEmbedder, meteredReranker } from '../metrics.ts';
import type { ChatOptions, EmbedderOptions } from '../openai/index.ts';
import { chosenPrefixes, digestOf, type Prefixes, prefixed } from '../prefixes.ts';
import { endpointReranker } from '../rerank.ts';
import { systemTools } from '../system/index.ts';
import type { Observer } from './observer.ts';
import { connectionShares } from './stores.ts';

/** Loaded only where a server is asked: it is a tenth of all that a process would load. */
const servers = () => import('../openai/index.ts');

/** What the ledger remembers of models is read before their first question. */
interface With {
  readonly log: Log;
  readonly ledger: Pick<Ledger, 'models'>;
}

export async function openChat({ chatModel, chatServer }: Config, { log, ledger }: With): Promise<ChatModel> {
  if (chatModel === null) return builtinChat();
  return (await servers()).profiledChat({ ...chatServer, model: chatModel, log }, keepingIn(ledger));
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

const keepingIn = ({ models }: With['ledger']) => ({ store: models, now: systemTools.now });

/**
 * Other chat models at the same place, by name, each with a breaker of its own: one that nobody knows leaves the
 * configured one alone. null where the place cannot be asked for another.
 */
export async function otherChats(
  { chatServer }: Config,
  { chat, limits, log, ledger }: Opened,
): Promise<(model: string) => ChatModel | null> {
  const opened = new Map([chat, builtinChat()].map((known) => [known.name, known]));
  const server = chatServer.apiKey === null && chatServer.baseUrl === null ? null : await servers();
  const at = { ...chatServer, settings: { ...chatServer.settings, model: NAMED_MODEL } };
  return (model) => {
    const known = opened.get(model);
    if (known !== undefined || server === null) return known ?? null;
    const other = limits.of(server.profiledChat({ ...at, model, log }, keepingIn(ledger)));
    opened.set(model, other);
    return other;
  };
}

const NAMED_MODEL = 'the model that the tenant or the replay names';

interface Opened extends With {
  /** The configured model. */
  readonly chat: ChatModel;
  readonly limits: Pick<Limits, 'of'>;
}

export async function openImageModel(
  { imageModel, imageServer }: Config,
  { log, ledger }: With,
): Promise<ChatModel | null> {
  if (imageModel === null) return null;
  return (await servers()).profiledChat({ ...imageServer, model: imageModel, log }, keepingIn(ledger));
}

/** A ledger that is still being opened. */
export const comingModels = (ledger: Promise<With['ledger']>): ModelStore => ({
  get: async (name) => (await ledger).models.get(name),
  put: async (name, known) => (await ledger).models.put(name, known),
});

/** The models that servers are asked for, with what the ledger remembers of each. */
export async function knownModels(config: Config, ledger: With['ledger']): Promise<ModelView[]> {
  const views = serverModels(config).map(async ({ use, model, of, at }): Promise<ModelView[]> => {
    if (model === null || model === 'builtin') return [];
    const { findingsIn, knownProfile, profileName } = await servers();
    const known = await knownProfile(profileName(of, { ...at, model }), keepingIn(ledger));
    const { last } = known;
    const copied = of === 'chat' ? await copiesOf(model, ledger) : [];
    const called = last === undefined ? null : { at: isoOf(last.at), problem: last.problem };
    const paused = of === 'chat' ? await pausedUntil(model, ledger) : null;
    return [{ use, model, findings: [...findingsIn(known), ...copied], last_call: called, paused_until: paused }];
  });
  return (await Promise.all(views)).flat();
}

const pausedName = (model: string): string => `paused ${model}`;

/** Until when some process leaves a chat model alone; null: none does. One that was stopped meanwhile says no more. */
async function pausedUntil(model: string, { models }: With['ledger']): Promise<string | null> {
  const { until = 0 } = ((await models.get(pausedName(model))) ?? {}) as { readonly until?: number };
  return until > systemTools.now() ? isoOf(until) : null;
}

/** Tells the other processes. Nobody waits for it, and a ledger that is away learns of it later. */
const tellPaused =
  (model: string, { models }: With['ledger']) =>
  (ms: number | null) =>
    void models.put(pausedName(model), ms === null ? null : { until: systemTools.now() + ms }).catch(() => {});

/** What consolidations have found out of a chat model. */
async function copiesOf(model: string, { models }: With['ledger']): Promise<ModelView['findings']> {
  const known = await knownCopying(models, model);
  if (!isCopying(known, systemTools.now())) return [];
  const what = `copied the examples of its prompt in ${known.batches} batches in a row, so it is asked for facts without examples`;
  return [{ property: 'examples', at: isoOf(known.at), what, remedy: 'a larger model finds more' }];
}

function serverModels(config: Config) {
  const { chatModel, chatServer, tenantModels, imageModel, imageServer } = config;
  const { embeddingModel, localModel, embeddingServer, embeddingDimensions: dimensions } = config;
  const chats = [...new Set([chatModel, ...tenantModels])].map(
    (model) => ({ use: 'chat', of: 'chat', model, at: chatServer }) as const,
  );
  const embedding = localModel === null ? embeddingModel : null;
  return [
    ...chats,
    { use: 'images', of: 'chat', model: imageModel, at: imageServer } as const,
    { use: 'embeddings', of: 'embedding', model: embedding, at: { ...embeddingServer, dimensions } } as const,
  ];
}

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

/** Holds what is asked of models to what their providers allow and bear. */
export interface Limits {
  /** The model, held so. */
  of(chat: ChatModel): ChatModel;
  /** The embedder holds itself so: only its breaker is shown with the others. */
  watch(embedder: OpenEmbedder): void;
  /** How each model's breaker stands, by the model's name. */
  breakers(): Readonly<Record<string, Breaker['kind']>>;
  close(): Promise<void>;
}

/** All processes on one queue share what the provider allows; each finds out itself whether the provider answers. */
export function openLimits(
  config: Config,
  { log, ledger }: With,
  { registry, meter }: Pick<Observer, 'registry' | 'meter'>,
): Limits {
  const limiter = countWaits(limiterOf(config, log), registry);
  const models: { readonly name: () => string; breaker(): Breaker['kind'] }[] = [];
  const breakers = () => Object.fromEntries(models.map(({ name, breaker }) => [name(), breaker()]));
  measureBreakers(registry, { breakers });
  return {
    of: (chat) => {
      const model = breakingChat(limitedChat(chat, { limiter, log }), {
        ...{ log, meter },
        paused: tellPaused(chat.name, ledger),
      });
      models.push({ name: () => model.name, breaker: model.breaker });
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
  const { redisUrl, databaseUrl, limits } = config;
  const { requestsPerMinute, tokensPerMinute } = limits;
  const held = {
    requestsPerMinute,
    tokensPerMinute: tokensPerMinute === null ? null : Math.floor(tokensPerMinute * TOKENS_SHARE),
  };
  if (redisUrl !== null) return redisLimiter(redisUrl, held);
  if (databaseUrl !== null) {
    return postgresLimiter({ url: databaseUrl, log, connections: connectionShares(config).limits }, held);
  }
  return memoryLimiter(held);
}
