import type { ModelView } from '@slowwave/contracts';
import {
  type BundleStore,
  type ChatModel,
  type Embedder,
  type EngineDeps,
  EngineError,
  type EngineErrorCode,
  type IndexMoves,
  type Ledger,
  type Log,
  type TenantCopyStore,
  type WebhookSender,
  wonder,
} from '@slowwave/engine';
import { type OpenedSchedule, openSchedule, type QueueConnection } from '../bullmq/index.ts';
import { type Config, ConfigError } from '../config/index.ts';
import { guardedImages } from '../net/guarded.ts';
import { type UrlPolicy, urlPolicy } from '../net/url-policy.ts';
import { systemTools } from '../system/system.ts';
import { o200kTokenizer } from '../tokens.ts';
import { webhookSender } from '../webhooks.ts';
import { knownModels, openChats } from './chats.ts';
import { type OpenCold, openCold } from './cold.ts';
import { comingModels, embeddersByName, type Limits, loadInBackground, openLimits } from './models.ts';
import { openMoves } from './moving-space.ts';
import type { Observer } from './observer.ts';
import { engineSettings, type OpenCalibration, openCalibrations } from './settings.ts';
import { type OpenSpace, openSpace } from './space.ts';
import { openAll, openLedger, openOn, openQueue } from './stores.ts';

/** What a program that consolidates or decides works with, opened as the configuration says. */
export interface OpenEngine {
  readonly deps: EngineDeps;
  /** Owners as they travel from one ledger to another. */
  readonly bundles: BundleStore;
  /** Owners that sleep; null: nobody does. */
  readonly cold: OpenCold | null;
  /** What tenants have in common, as it goes from cell to cell. */
  readonly copies: TenantCopyStore;
  /** Embeds what is asked, as that of deps embeds what is stored. */
  readonly queryEmbedder: Embedder;
  /** For who consolidates: throws if the stand-in would take the place of a model that nobody took away. */
  readonly rememberChat: () => Promise<void>;
  /** Shows whether the chat model is there. */
  readonly firstQuestion: FirstQuestion;
  /** Loads a model that runs in this process before anybody asks it. */
  readonly loadEmbedder: () => void;
  /** Makes the index the own one, also one that replaces it. */
  readonly adopt: OpenSpace['adopt'];
  /** Its move to another embedder. */
  readonly moves: IndexMoves;
  /** How its vectors read. */
  readonly calibration: OpenCalibration;
  /** false: no model describes images; else where these may be. */
  readonly images: false | UrlPolicy;
  /** Chat models that tenants may name. */
  readonly tenantModels: readonly string[];
  /** What was found out about the models of servers, and how they are doing. */
  readonly models: () => Promise<ModelView[]>;
  /** Whether the models are asked; for metrics. */
  readonly limits: Limits;
  readonly connection: QueueConnection;
  readonly schedule: OpenedSchedule;
  /** Where URLs that callers name may lead. */
  readonly urls: UrlPolicy;
  readonly sender: WebhookSender;
  /** One check per dependency; it throws when the dependency does not answer. */
  readonly ready: Readonly<Record<'ledger' | 'queue' | 'index', () => Promise<void>>>;
  /** What does not work although requests are served; anybody may read it. */
  readonly warnings: () => Promise<readonly string[]>;
  /** What is closed after everything that uses it, in this order. */
  readonly parts: readonly { close(): Promise<unknown> }[];
}

export async function openEngine(config: Config, log: Log, observer: Observer): Promise<OpenEngine> {
  const { meter } = observer;
  const opening = openLedger(config, log, observer);
  const [space, stored, connection] = await openAll([
    openSpace(config, log, { meter, models: comingModels(opening), ledger: opening }),
    opening,
    openQueue(config, log),
  ]);
  const { embedder, adopt } = space;
  const sleeping = openCold(config, { ledger: stored, space, log, observer });
  const { ledger, index, cold, coldParts } = await openOn([connection, space, stored], sleeping);
  const schedule = await openOn([connection, space, ledger], openSchedule({ connection, log }));
  const limits = openLimits(config, { log, ledger }, observer);
  limits.watch(embedder);
  const { chat, chats, otherChat, bulk, imageModel, each } = await openChats(config, { log, ledger, limits });
  const urls = urlPolicy(config.allowedPrivateUrls);
  const question = firstQuestion(config, { each, ledger, meter, tools: systemTools, log });
  const calibration = openCalibrations(config, { ledger, space, log });
  return {
    bundles: ledger.bundles,
    cold,
    copies: ledger.copies,
    urls,
    sender: webhookSender(urls),
    deps: {
      ledger,
      index,
      embedder: embedder.documents,
      queries: embedder.queries,
      otherEmbedder: embeddersByName(config, log, { meter, models: ledger.models }),
      chat,
      chats,
      otherChat,
      bulk,
      imageModel: imageModel && guardedImages(imageModel, { policy: urls }),
      tokenizer: o200kTokenizer,
      tools: systemTools,
      log,
      meter,
      settings: engineSettings(config, calibration),
    },
    queryEmbedder: embedder.queries,
    rememberChat: () => rememberChat(config, ledger),
    firstQuestion: question,
    loadEmbedder: () => loadInBackground(embedder),
    adopt,
    moves: openMoves(config, { space, ledger, log, calibration }),
    calibration,
    images: imageModel !== null && urls,
    tenantModels: [...new Set([...each.map(({ name }) => name), 'builtin', ...config.tenantModels])],
    models: () => knownModels(config, ledger),
    limits,
    connection,
    schedule,
    ready: {
      ledger: () => ledger.check(),
      queue: () => schedule.check(),
      index: async () => void (await index.marker()),
    },
    warnings: async () => (await knownModels(config, ledger)).flatMap(warningOf),
    parts: [question, schedule, connection, limits, calibration, ...coldParts, space, ledger],
  };
}

/** No more than that: what the server of the model said is for those who run this one. */
const warningOf = ({ use, last_call: last }: ModelView): readonly string[] =>
  last?.problem == null
    ? []
    : [
        `the last call of the ${use} model failed (${last.problem.code}); slowwave status says why. Work that needs it waits, unless the model has a fallback`,
      ];

/** The chat models, each asked once at the start: else a wrong key shows only when something waits for it. */
interface FirstQuestion {
  /** Nobody waits for the answer. What comes of it is kept with the model, and logged if it is bad. */
  ask(): void;
  close(): Promise<void>;
}

type Asking = Pick<EngineDeps, 'ledger' | 'meter' | 'tools' | 'log'> & { readonly each: readonly ChatModel[] };

function firstQuestion({ chatTried }: Config, { each, ...deps }: Asking): FirstQuestion {
  const stopped = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const asked = (chat: ChatModel): Promise<unknown> =>
    wonder({ ...deps, chat }, stopped.signal).catch((error: unknown) => tell(deps.log, { model: chat.name, error }));
  return {
    ask: () => {
      if (chatTried) running = Promise.all(each.filter(({ name }) => name !== 'builtin').map(asked));
    },
    close: async () => {
      stopped.abort();
      await running;
    },
  };
}

/** The model's client warns of a wrong key, address or name itself. An unusable answer is one: the model is there. */
const AWAY: readonly EngineErrorCode[] = [
  'model_unreachable',
  'model_timeout',
  'model_server_error',
  'model_overloaded',
];

function tell(log: Log, { model, error }: { readonly model: string; readonly error: unknown }): void {
  if (error instanceof EngineError && AWAY.includes(error.code))
    log.warn(
      { model, code: error.code, error: error.message },
      'the chat model does not answer; work that needs it waits',
    );
}

const LAST_CHAT = 'last chat';

/**
 * Keeps which chat model makes the memories of a ledger. Where one of a server did, the stand-in takes over only if somebody
 * names it: who forgot a key would notice too late that rules wrote memories beside those of a model.
 */
async function rememberChat({ chatModel, builtinNamed }: Config, { models }: Pick<Ledger, 'models'>): Promise<void> {
  const last = await models.get(LAST_CHAT);
  if (chatModel === null) {
    if (last !== null && !builtinNamed) throw new ConfigError([forgotten(String(last.model))]);
    return;
  }
  if (last?.model !== chatModel) await models.put(LAST_CHAT, { model: chatModel });
}

const forgotten = (model: string): string =>
  `SLOWWAVE_CHAT_MODEL: expected a model server, because ${model} made the memories of this ledger, got none; set ` +
  'OPENAI_API_KEY or OPENAI_BASE_URL, or set it to builtin to use the builtin rules instead of a model';
