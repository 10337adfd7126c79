import type { ChatStep } from '@slowwave/engine';
import type { LocalSource } from '../local/open.ts';
import { ENVIRONMENT, type Environment, type Given } from './environment.ts';
import { localSource, pathOf } from './kinds.ts';
import { NO_FALLBACK, STEP_NAMES, type StepName } from './step-settings.ts';

const DEFAULT_CHAT_MODEL = 'gpt-4.1-mini';
const DEFAULT_EMBEDDING_MODEL = 'text-embedding-3-small';

/** Which models are used, and where they are. Relative paths begin at `root`. */
export function modelsOf(env: Environment, root: string) {
  return {
    chatModel: modelOf(env.SLOWWAVE_CHAT_MODEL, DEFAULT_CHAT_MODEL, hasServer(env)),
    /** Somebody wants the stand-in for a model, and did not only forget a key. */
    builtinNamed: env.SLOWWAVE_CHAT_MODEL === 'builtin',
    /** A worker asks its chat model something when it starts. */
    chatTried: env.SLOWWAVE_CHAT_TRY === 'on',
    chatServer: { ...chatServerOf(env), ...streamingOf(env) },
    /** Backfill is extracted by the provider's batch API. */
    chatBatches: env.SLOWWAVE_CHAT_BATCHES === 'backfill',
    /** Chat models that tenants may name beside it. */
    tenantModels: env.SLOWWAVE_TENANT_MODELS ?? [],
    /** null: none; images are refused. */
    imageModel: env.SLOWWAVE_IMAGE_MODEL === 'none' ? null : env.SLOWWAVE_IMAGE_MODEL,
    imageServer: { ...modelServerOf('IMAGE', env), ...streamingOf(env) },
    imageFallbacks: fallbacksOf('IMAGE', env, modelServerOf('IMAGE', env)),
    chatFallbacks: fallbacksOf('CHAT', env),
    /** The models of steps that differ from the chat model, each in the order in which they are asked. */
    stepModels: stepModelsOf(env),
    ...embeddingOf(env, root),
    /** What the index is to be moved to; null: nothing is named. */
    nextEmbedding: env.SLOWWAVE_NEXT_EMBEDDING_MODEL === undefined ? null : nextEmbeddingOf(env, root),
    modelHub: env.SLOWWAVE_MODEL_HUB_URL,
    reranker: rerankerOf(env),
    /** What the provider allows of each chat model, for all processes together; null: no limit known. */
    limits: { requestsPerMinute: env.SLOWWAVE_RPM ?? null, tokensPerMinute: env.SLOWWAVE_TPM ?? null },
    /** What a day of a tenant may use at most; null: no limit. */
    ceilings: {
      tokensPerDay: env.SLOWWAVE_TENANT_TOKENS_PER_DAY ?? null,
      costPerDay: env.SLOWWAVE_TENANT_COST_PER_DAY ?? null,
    },
  };
}

const embeddingOf = (env: Environment, root: string) => ({
  embeddingModel: modelOf(env.SLOWWAVE_EMBEDDING_MODEL, DEFAULT_EMBEDDING_MODEL, hasServerFor('EMBEDDING', env)),
  embeddingServer: modelServerOf('EMBEDDING', env),
  embeddingDimensions: env.SLOWWAVE_EMBEDDING_DIMENSIONS ?? null,
  /** Before what is embedded; null: as the model is used to. */
  embeddingPrefixes: {
    query: prefixOf(env.SLOWWAVE_EMBEDDING_QUERY_PREFIX),
    document: prefixOf(env.SLOWWAVE_EMBEDDING_DOCUMENT_PREFIX),
  },
  /** null: the embedding model does not run in this process. */
  localModel: localModelOf(env, root),
});

function nextEmbeddingOf(env: Environment, root: string): ReturnType<typeof embeddingOf> {
  const next = embeddingOf(asIfNext(env), root);
  const { settings } = next.embeddingServer;
  const named = Object.entries(settings).map(([name, setting]) => [name, nameOfNext(setting)]);
  return { ...next, embeddingServer: { ...next.embeddingServer, settings: Object.fromEntries(named) } };
}

const PRESENT = /^SLOWWAVE_EMBEDDING_(?!CONCURRENCY$)/;
const NEXT = /^SLOWWAVE_NEXT_EMBEDDING_/;
const nameOfNext = (setting: string): string => setting.replace(PRESENT, 'SLOWWAVE_NEXT_EMBEDDING_');

/** The settings as they will be when the next embedding model is the present one. */
const asIfNext = <Env extends Given | Environment>(env: Env): Env =>
  Object.fromEntries(
    Object.entries(env)
      .filter(([name]) => !PRESENT.test(name))
      .map(([name, value]) => [name.replace(NEXT, 'SLOWWAVE_EMBEDDING_'), value]),
  ) as Env;

/** The kinds of models that may have a server of their own. */
type Kind = 'IMAGE' | 'EMBEDDING' | 'FALLBACK' | StepName;

type ChatServer = ReturnType<typeof chatServerOf>;

/** A chat model at its server; null: the builtin one. */
export interface ModelAt {
  readonly model: string | null;
  readonly server: ChatServer & ReturnType<typeof streamingOf>;
}

/** A step with a setting of its own; what it does not say is as for the chat model. */
function stepModelsOf(env: Environment): Readonly<Partial<Record<ChatStep, readonly [ModelAt, ...ModelAt[]]>>> {
  const own = STEP_NAMES.filter((step) => Object.keys(env).some((name) => name.startsWith(`SLOWWAVE_${step}_`)));
  return Object.fromEntries(own.map((step) => [step.toLowerCase(), stepModelOf(step, env)]));
}

function stepModelOf(step: StepName, env: Environment): readonly [ModelAt, ...ModelAt[]] {
  const named = env[`SLOWWAVE_${step}_MODEL`];
  const own = modelServerOf(step, env);
  const { extraBody, extraHeaders, settings } = chatServerOf(env);
  const asChat = {
    extraBody: env[`SLOWWAVE_${step}_EXTRA_BODY`] ?? extraBody,
    extraHeaders: env[`SLOWWAVE_${step}_EXTRA_HEADERS`] ?? extraHeaders,
    settings: { ...own.settings, model: settings.model },
  };
  const server = { ...own, ...(named === undefined && asChat) };
  const model = modelOf(named ?? env.SLOWWAVE_CHAT_MODEL, DEFAULT_CHAT_MODEL, hasServerFor(step, env));
  return [{ model, server: { ...server, ...streamingOf(env) } }, ...fallbacksOf(step, env, server)];
}

type Replaced = 'CHAT' | 'IMAGE' | StepName;

/** On the server of the model whose place they take, or on their own. A step without a list has that of the chat model. */
function fallbacksOf(of: Replaced, env: Environment, instead: ChatServer = chatServerOf(env)): readonly ModelAt[] {
  const models = env[`SLOWWAVE_${of}_FALLBACK`];
  if (models === undefined) return of === 'CHAT' || of === 'IMAGE' ? [] : fallbacksOf('CHAT', env);
  const { settings, ...server } = modelServerOf('FALLBACK', env, instead);
  const named = { ...settings, model: `SLOWWAVE_${of}_FALLBACK` };
  return models
    .filter((model) => model !== NO_FALLBACK)
    .map((model) => ({ model, server: { ...server, settings: named, ...streamingOf(env) } }));
}

/** A key goes to the server that it was given for: that of the chat model to no other. */
function modelServerOf(kind: Kind, env: Environment, usual: ChatServer = chatServerOf(env)): ChatServer {
  const ownUrl = env[`SLOWWAVE_${kind}_BASE_URL`];
  const ownKey = env[`SLOWWAVE_${kind}_API_KEY`] ?? (ownUrl === undefined ? undefined : null);
  const chat = kind === 'EMBEDDING' ? withEmbeddings(usual) : usual;
  return {
    ...chat,
    api: ownUrl === undefined ? chat.api : 'openai',
    baseUrl: ownUrl ?? chat.baseUrl,
    apiKey: ownKey === undefined ? chat.apiKey : ownKey,
    extraBody: env[`SLOWWAVE_${kind}_EXTRA_BODY`] ?? {},
    extraHeaders: env[`SLOWWAVE_${kind}_EXTRA_HEADERS`] ?? {},
    settings: {
      baseUrl: ownUrl === undefined ? chat.settings.baseUrl : `SLOWWAVE_${kind}_BASE_URL`,
      apiKey: ownKey === undefined ? chat.settings.apiKey : `SLOWWAVE_${kind}_API_KEY`,
      model: `SLOWWAVE_${kind}_MODEL`,
    },
  };
}

/** The chat model's server, where it may have embeddings: Anthropic has none, and its key goes to nobody else. */
const withEmbeddings = (chat: ReturnType<typeof chatServerOf>): typeof chat =>
  chat.api === 'anthropic' ? { ...chat, api: 'openai', baseUrl: null, apiKey: null } : chat;

const chatServerOf = (env: Environment) => ({
  api: env.SLOWWAVE_CHAT_API,
  baseUrl: env.OPENAI_BASE_URL ?? null,
  apiKey: env.OPENAI_API_KEY ?? null,
  timeoutMs: env.SLOWWAVE_MODEL_TIMEOUT_MS,
  ...outputLimitOf(env),
  extraBody: env.SLOWWAVE_CHAT_EXTRA_BODY ?? {},
  extraHeaders: env.SLOWWAVE_CHAT_EXTRA_HEADERS ?? {},
  /** Where it is set, for what is said when it is wrong. */
  settings: { baseUrl: 'OPENAI_BASE_URL', apiKey: 'OPENAI_API_KEY', model: 'SLOWWAVE_CHAT_MODEL' },
});

const streamingOf = (env: Environment) => ({
  stream: env.SLOWWAVE_CHAT_STREAM,
  idleTimeoutMs: env.SLOWWAVE_CHAT_IDLE_TIMEOUT_MS,
});

/** Missing: as follows from each question. */
function outputLimitOf({ SLOWWAVE_CHAT_MAX_OUTPUT_TOKENS: most }: Environment): { maxOutputTokens?: number | null } {
  return most === undefined ? {} : { maxOutputTokens: most === 0 ? null : most };
}

const prefixOf = (given: string | undefined): string | null => (given === 'none' ? '' : (given ?? null));

function localModelOf({ SLOWWAVE_EMBEDDING_MODEL: model = '' }: Environment, root: string): LocalSource | null {
  const source = localSource(model);
  if (source === null || source === 'unknown') return null;
  return 'folder' in source ? { folder: pathOf(source.folder, root) } : source;
}

/** builtin where it is said, or where there is no server. */
function modelOf(named: string | undefined, usual: string, server: boolean): string | null {
  const model = named ?? (server ? usual : 'builtin');
  return model === 'builtin' ? null : model;
}

function rerankerOf(env: Environment) {
  const { SLOWWAVE_RERANK_URL: url, SLOWWAVE_RERANK_MODEL: model, SLOWWAVE_RERANK_API_KEY: apiKey } = env;
  if (url === undefined) return null;
  const { SLOWWAVE_RERANK_EXTRA_BODY: extraBody = {}, SLOWWAVE_RERANK_EXTRA_HEADERS: extraHeaders = {} } = env;
  return { url, model: model ?? null, apiKey: apiKey ?? null, extraBody, extraHeaders };
}

/** Settings of models that only make sense with others, which are not set. */
export const contradictionsOfModels = (given: Given): string[] => [
  ...modelsWithoutServer(given),
  ...(given.SLOWWAVE_CHAT_API === 'anthropic' && given.SLOWWAVE_CHAT_MODEL === undefined
    ? ['SLOWWAVE_CHAT_MODEL: there is no default model for Anthropic; set SLOWWAVE_CHAT_MODEL']
    : []),
  ...(given.SLOWWAVE_CHAT_API === 'anthropic' && given.SLOWWAVE_CHAT_STREAM === 'on'
    ? ['SLOWWAVE_CHAT_STREAM: streaming is not supported with Anthropic’s API; unset it']
    : []),
  ...batchesWithout(given),
  ...embedderWithout(given),
  ...mistakesOfNext(given),
  ...(given.SLOWWAVE_RERANK_URL === undefined
    ? needless(given, /^SLOWWAVE_RERANK_/, 'a reranker; set SLOWWAVE_RERANK_URL')
    : []),
  ...((given.SLOWWAVE_IMAGE_MODEL ?? 'none') === 'none'
    ? needless(given, /^SLOWWAVE_IMAGE_(?!MODEL)/, 'an image model; set SLOWWAVE_IMAGE_MODEL')
    : []),
  ...stepsWithoutModel(given),
  ...fallbacksWithoutServer(given),
  ...(hasServer(given) ? [] : needless(given, /^SLOWWAVE_CHAT_(?:EXTRA_|API$)/, SERVER)),
  // Image models stream their answers, too.
  ...(hasServerFor('IMAGE', given) ? [] : needless(given, /^SLOWWAVE_CHAT_(?:STREAM|IDLE_TIMEOUT_MS)$/, SERVER)),
];

const SERVER = 'a model server; set OPENAI_API_KEY or OPENAI_BASE_URL';

/** Those of these settings that are set, for nothing. */
export const needless = (given: Given, names: RegExp, what: string): string[] =>
  Object.keys(given)
    .filter((name) => names.test(name) && name in ENVIRONMENT.shape)
    .map((name) => `${name}: only applies with ${what}, or unset this`);

/** Only OpenAI's API has batches as Slowwave knows them. */
function batchesWithout(given: Given): string[] {
  if ((given.SLOWWAVE_CHAT_BATCHES ?? 'off') !== 'backfill') return [];
  if (!hasServerFor('EXTRACT', given)) return [`SLOWWAVE_CHAT_BATCHES: only applies with ${SERVER}, or unset this`];
  return given.SLOWWAVE_CHAT_API === 'anthropic' && given.SLOWWAVE_EXTRACT_BASE_URL === undefined
    ? ['SLOWWAVE_CHAT_BATCHES: only OpenAI’s batch API is supported; unset it']
    : [];
}

/** A server of somebody's own has no model that could be guessed, and no server has no model. */
function stepsWithoutModel(given: Given): string[] {
  return STEP_NAMES.flatMap((step) => {
    const [model, own] = [`SLOWWAVE_${step}_MODEL`, `SLOWWAVE_${step}_BASE_URL`];
    const there = ['API_KEY', 'EXTRA_BODY', 'EXTRA_HEADERS', 'FALLBACK'].filter(
      (part) => given[`SLOWWAVE_${step}_${part}`] !== undefined,
    );
    if (given[own] !== undefined && given[model] === undefined)
      return [`${model}: a separate server needs the name of its model; set ${model}`];
    if (hasServerFor(step, given)) return [];
    if ((given[model] ?? 'builtin') !== 'builtin')
      return [`${model}: a model needs a server; set OPENAI_API_KEY, OPENAI_BASE_URL or ${own}`];
    return there.map((part) => `SLOWWAVE_${step}_${part}: only applies with ${SERVER}, or unset this`);
  });
}

/** Lists of fallbacks that no server has, or that rules are on; and the server of fallbacks where there are none. */
function fallbacksWithoutServer(given: Given): string[] {
  const lists = Object.keys(given).filter((name) => /^SLOWWAVE_[A-Z]+_FALLBACK$/u.test(name));
  const isThere = hasServer(given) || hasServerFor('FALLBACK', given);
  return [
    ...lists
      .filter((name) => given[name]?.split(',').some((model) => model.trim() === 'builtin') === true)
      .map((name) => `${name}: the builtin rules cannot be a fallback; use models on a server`),
    ...(isThere || given.SLOWWAVE_CHAT_FALLBACK === undefined
      ? []
      : [`SLOWWAVE_CHAT_FALLBACK: only applies with ${SERVER}, or unset this`]),
    ...(lists.length > 0 ? [] : needless(given, /^SLOWWAVE_FALLBACK_/, 'fallbacks; set SLOWWAVE_CHAT_FALLBACK')),
  ];
}

function modelsWithoutServer(given: Given): string[] {
  return Object.entries(WITHOUT_SERVER).flatMap(([name, { instead, has, remedy }]) =>
    has(given) || (given[name] ?? instead) === instead ? [] : [`${name}: a model needs a server; set ${remedy}`],
  );
}

const hasServer = (given: Given | Environment): boolean =>
  given.OPENAI_API_KEY !== undefined || given.OPENAI_BASE_URL !== undefined;

const hasServerFor = (kind: Kind, given: Given | Environment): boolean =>
  (hasServer(given) && (kind !== 'EMBEDDING' || given.SLOWWAVE_CHAT_API !== 'anthropic')) ||
  given[`SLOWWAVE_${kind}_BASE_URL`] !== undefined ||
  given[`SLOWWAVE_${kind}_API_KEY`] !== undefined;

const isLocal = (model: string | undefined): boolean => localSource(model ?? '') !== null;

/** The models there are, and what each must be where there is no server. */
const WITHOUT_SERVER = {
  SLOWWAVE_CHAT_MODEL: {
    instead: 'builtin',
    has: hasServer,
    remedy: 'OPENAI_API_KEY or OPENAI_BASE_URL, or name it builtin',
  },
  SLOWWAVE_IMAGE_MODEL: {
    instead: 'none',
    has: (given: Given) => hasServerFor('IMAGE', given),
    remedy: 'OPENAI_API_KEY, OPENAI_BASE_URL or SLOWWAVE_IMAGE_BASE_URL, or name it none',
  },
  SLOWWAVE_EMBEDDING_MODEL: {
    instead: 'builtin',
    has: (given: Given) => hasServerFor('EMBEDDING', given) || isLocal(given.SLOWWAVE_EMBEDDING_MODEL),
    remedy: 'OPENAI_API_KEY, OPENAI_BASE_URL or SLOWWAVE_EMBEDDING_BASE_URL, or name it builtin or local',
  },
};

/** The builtin embedder reads no prefix, and a local model has the length of vectors that it has. Neither is on a server. */
function embedderWithout(given: Given): string[] {
  const model =
    given.SLOWWAVE_EMBEDDING_MODEL ?? (hasServerFor('EMBEDDING', given) ? DEFAULT_EMBEDDING_MODEL : 'builtin');
  if (isLocal(model)) {
    const only = 'does not apply to a local model, whose vectors have a fixed length; unset it';
    return [
      ...(given.SLOWWAVE_EMBEDDING_DIMENSIONS === undefined ? [] : [`SLOWWAVE_EMBEDDING_DIMENSIONS: ${only}`]),
      ...setAmong(given, OF_A_SERVER).map((name) => `${name}: does not apply to a local model; unset it`),
    ];
  }
  if (model !== 'builtin') return withoutModel(given);
  return setAmong(given, [...OF_A_MODEL, ...OF_A_SERVER]).map(
    (name) => `${name}: does not apply to the builtin embedding model; set SLOWWAVE_EMBEDDING_MODEL, or unset this`,
  );
}

function mistakesOfNext(given: Given): string[] {
  const { SLOWWAVE_NEXT_EMBEDDING_MODEL: model } = given;
  if (model === undefined) return needless(given, NEXT, 'a next embedding model; set SLOWWAVE_NEXT_EMBEDDING_MODEL');
  const next = asIfNext(given);
  const mistakes = [...modelsWithoutServer(next), ...embedderWithout(next)];
  return mistakes.filter((mistake) => PRESENT.test(mistake)).map(nameOfNext);
}

/** A server of somebody's own has no model that could be guessed. */
function withoutModel({ SLOWWAVE_EMBEDDING_BASE_URL: own, SLOWWAVE_EMBEDDING_MODEL: model }: Given): string[] {
  if (own === undefined || model !== undefined) return [];
  return [
    'SLOWWAVE_EMBEDDING_MODEL: a separate embedding server needs the name of its model; set SLOWWAVE_EMBEDDING_MODEL',
  ];
}

const OF_A_MODEL = ['SLOWWAVE_EMBEDDING_QUERY_PREFIX', 'SLOWWAVE_EMBEDDING_DOCUMENT_PREFIX'];
const OF_A_SERVER = [
  'SLOWWAVE_EMBEDDING_BASE_URL',
  'SLOWWAVE_EMBEDDING_API_KEY',
  'SLOWWAVE_EMBEDDING_EXTRA_BODY',
  'SLOWWAVE_EMBEDDING_EXTRA_HEADERS',
];

const setAmong = (given: Given, names: readonly string[]): string[] =>
  names.filter((name) => given[name] !== undefined);
