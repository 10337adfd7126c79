import { builtinChat } from '@slowwave/builtin-model';
import type { ModelView } from '@slowwave/contracts';
import {
  type BulkProvider,
  CHAT_STEPS,
  type ChatModel,
  type EngineDeps,
  isCopying,
  isoOf,
  knownCopying,
  type Ledger,
  type Log,
  type OtherUse,
  type StepChats,
} from '@slowwave/engine';
import type { Config, ModelAt } from '../config/index.ts';
import { type BreakingChat, fallbackChat } from '../limits/index.ts';
import { systemTools } from '../system/system.ts';
import { keepingIn, type Limits, limitKey, pausedName, servers } from './models.ts';

/** The chat models of the configuration, each held to its limits. */
interface OpenChats extends Pick<EngineDeps, 'chat' | 'chats' | 'otherChat' | 'bulk'> {
  /** Describes images; null: none is configured. */
  readonly imageModel: ChatModel | null;
  /** Each model that a step asks, and each fallback, by itself. */
  readonly each: readonly ChatModel[];
}

interface Opening {
  readonly log: Log;
  readonly ledger: Pick<Ledger, 'models'>;
  readonly limits: Pick<Limits, 'of'>;
}

/** What is in several lists is opened once: it has one breaker, one profile and one share of what its provider allows. */
export async function openChats(config: Config, opening: Opening): Promise<OpenChats> {
  const { chat, steps, images } = listsOf(config);
  const open = await opener(config, opening);
  const inOrder = ([first, ...fallbacks]: InOrder): ChatModel =>
    fallbackChat([open(first), ...fallbacks.map(open)], opening);
  const chats = mapped(steps, inOrder);
  const usual = inOrder(chat);
  const each = [...new Set([chat, ...Object.values(steps)].flat().map(open))];
  const others = new Map<string, ChatModel>();
  return {
    chat: usual,
    chats,
    each,
    bulk: await openBulk(config, opening),
    imageModel: images && inOrder(images),
    // Kept, as each remembers which of its models is away.
    otherChat: (model, use) => {
      const named = otherAt(config, model);
      if (named === null) return null;
      const key = `${use} ${model}`;
      const other = others.get(key) ?? inOrder([named, ...fallbacksFor(config, use, named)]);
      others.set(key, other);
      return other;
    },
  };
}

/** Chat models in the order in which they are asked. */
type InOrder = readonly [first: ModelAt, ...fallbacks: ModelAt[]];

interface Lists {
  readonly chat: InOrder;
  /** Of the steps that differ from the chat model. */
  readonly steps: Readonly<Partial<Record<keyof StepChats, InOrder>>>;
  readonly images: InOrder | null;
}

function listsOf(config: Config): Lists {
  const { chatModel, chatServer, chatFallbacks, stepModels, imageModel, imageServer, imageFallbacks } = config;
  return {
    chat: [{ model: chatModel, server: chatServer }, ...chatFallbacks],
    steps: stepModels,
    images: imageModel === null ? null : [{ model: imageModel, server: imageServer }, ...imageFallbacks],
  };
}

/** The models of steps and images and all fallbacks, each once, but for the chat model itself. */
export function besideChat(config: Config): readonly (ModelAt & { readonly model: string })[] {
  const { chat, steps, images } = listsOf(config);
  const keyOf = ({ model, server: { baseUrl } }: ModelAt): string => JSON.stringify([model, baseUrl]);
  const all = [chat, ...Object.values(steps), ...(images === null ? [] : [images])].flat();
  const others = new Map(all.map((at) => [keyOf(at), at]));
  others.delete(keyOf(chat[0]));
  return [...others.values()].flatMap(({ model, server }) => (model === null ? [] : [{ model, server }]));
}

const mapped = (steps: Lists['steps'], of: (list: InOrder) => ChatModel): StepChats =>
  Object.fromEntries(Object.entries(steps).map(([step, list]) => [step, of(list)]));

async function opener(config: Config, { log, ledger, limits }: Opening): Promise<(at: ModelAt) => BreakingChat> {
  const { chat, steps, images } = listsOf(config);
  const lists = [chat, ...Object.values(steps), ...(images === null ? [] : [images])];
  const isServed = hasServer(config) || lists.flat().some(({ model }) => model !== null);
  const server = isServed ? await servers() : null;
  const keyOf = ({ model, server: at }: ModelAt): string =>
    model === null || server === null ? 'builtin' : server.profileName('chat', { ...at, model });
  const followed = new Set(lists.flatMap((list) => list.slice(0, -1).map(keyOf)));
  const opened = new Map<string, BreakingChat>();
  return (at) => {
    const key = keyOf(at);
    const known = opened.get(key);
    if (known !== undefined) return known;
    const { model } = at;
    const given =
      model === null || server === null
        ? builtinChat()
        : server.profiledChat({ ...at.server, model, log }, keepingIn(ledger));
    const held = limits.of(given, { key: limitKey(config, at), hasFallbacks: followed.has(key) });
    opened.set(key, held);
    return held;
  };
}

/** The batch API at the server of the model that extracts; null: it is not wanted, or that server has none. */
async function openBulk(config: Config, { log, ledger }: Opening): Promise<BulkProvider | null> {
  const { chat, steps } = listsOf(config);
  const [{ model, server }] = steps.extract ?? chat;
  if (!config.chatBatches || model === null || server.api !== 'openai') return null;
  const { knownManners, knownProfile, openaiBulk, profileName } = await servers();
  const name = profileName('chat', { ...server, model });
  return openaiBulk({ ...server, model, log }, async () => {
    const { takes } = await knownProfile(name, keepingIn(ledger));
    return knownManners(takes?.manners);
  });
}

const hasServer = ({ chatServer: { apiKey, baseUrl } }: Config): boolean => apiKey !== null || baseUrl !== null;

/** Where a model is that somebody names: where the configuration has it, else with the chat model. null: that has no server. */
function otherAt(config: Config, model: string): ModelAt | null {
  const { chat, steps } = listsOf(config);
  const known = [chat, ...Object.values(steps)].flat().find((at) => (at.model ?? 'builtin') === model);
  const { chatServer } = config;
  if (known !== undefined) return known;
  if (model === 'builtin') return { model: null, server: chatServer };
  if (!hasServer(config)) return null;
  return { model, server: { ...chatServer, settings: { ...chatServer.settings, model: NAMED_MODEL } } };
}

const NAMED_MODEL = 'the model that the tenant or the replay names';

function fallbacksFor(config: Config, use: OtherUse, { model }: ModelAt): readonly ModelAt[] {
  if (use === null) return [];
  const { chat, steps } = listsOf(config);
  const [, ...fallbacks] = steps[use] ?? chat;
  return fallbacks.filter((at) => at.model !== model);
}

type Models = Pick<Ledger, 'models'>;

/** The models that servers are asked for, with what the ledger remembers of each. */
export async function knownModels(config: Config, ledger: Models): Promise<ModelView[]> {
  const chats = await Promise.all(chatsIn(config).map((entry) => chatView(config, entry, ledger)));
  return [...withThoseAsked(chats.filter((view) => view !== null)), ...(await embeddingView(config, ledger))];
}

interface Entry {
  readonly use: 'chat' | 'images';
  readonly at: ModelAt;
  readonly steps: readonly { readonly step: Step['step']; readonly place: number }[];
}

type Step = ModelView['steps'][number];

/** Each chat model once, with the steps it is asked for; also those that tenants may name. */
function chatsIn(config: Config): readonly Entry[] {
  const { chat, steps, images } = listsOf(config);
  const { tenantModels, chatServer: server } = config;
  const asked = [
    ...CHAT_STEPS.flatMap((step) => (steps[step] ?? chat).map((at, i) => ({ at, step, place: i + 1 }))),
    ...(images ?? []).map((at, i) => ({ at, step: 'images' as const, place: i + 1 })),
  ];
  const others = tenantModels
    .filter((model) => !asked.some(({ at }) => at.model === model))
    .map((model) => ({ at: { model, server }, step: null, place: 0 }));
  const uses = Map.groupBy(
    [...asked, ...others],
    ({ at, step }) => (step === 'images' ? '@ ' : '') + limitKey(config, at),
  );
  return [...uses.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const named = group.flatMap(({ step, place }) => (step === null ? [] : [{ step, place }]));
    return [{ use: first.step === 'images' ? 'images' : 'chat', at: first.at, steps: named } as const];
  });
}

async function chatView(config: Config, { use, at, steps }: Entry, ledger: Models): Promise<ModelView | null> {
  const { model, server } = at;
  if (model === null || model === 'builtin') return null;
  const { profileName } = await servers();
  const copied = await copiesOf(model, ledger);
  const known = await profileView(profileName('chat', { ...server, model }), ledger);
  return {
    ...{ use, model, findings: [...known.findings, ...copied], last_call: known.last_call },
    paused_until: await pausedUntil(limitKey(config, at), ledger),
    steps: steps.map((step) => ({ ...step, asked: false })),
  };
}

/** Left alone, or not there: then the next one is asked. */
const isAway = ({ paused_until: paused, last_call: last }: ModelView): boolean =>
  paused !== null || last?.problem?.code === 'model_unreachable';

/** Of each step the first that is not away is asked. */
function withThoseAsked(views: readonly ModelView[]): readonly ModelView[] {
  const asked = new Map<Step['step'], number>();
  for (const view of views) {
    for (const { step, place } of isAway(view) ? [] : view.steps)
      asked.set(step, Math.min(place, asked.get(step) ?? place));
  }
  return views.map((view) => ({
    ...view,
    steps: view.steps.map((one) => ({ ...one, asked: asked.get(one.step) === one.place })),
  }));
}

async function embeddingView(
  { localModel, embeddingModel: model, embeddingServer, embeddingDimensions: dimensions }: Config,
  ledger: Models,
): Promise<readonly ModelView[]> {
  if (localModel !== null || model === null) return [];
  const { profileName } = await servers();
  const at = { ...embeddingServer, model, dimensions };
  const known = await profileView(profileName('embedding', at), ledger);
  return [{ use: 'embeddings', model, ...known, paused_until: null, steps: [] }];
}

async function profileView(name: string, ledger: Models): Promise<Pick<ModelView, 'findings' | 'last_call'>> {
  const { findingsIn, knownProfile } = await servers();
  const known = await knownProfile(name, keepingIn(ledger));
  const { last } = known;
  return {
    findings: findingsIn(known),
    last_call: last === undefined ? null : { at: isoOf(last.at), problem: last.problem },
  };
}

/** Until when some process leaves a chat model alone; null: none does. One that was stopped meanwhile says no more. */
async function pausedUntil(key: string, { models }: Models): Promise<string | null> {
  const { until = 0 } = ((await models.get(pausedName(key))) ?? {}) as { readonly until?: number };
  return until > systemTools.now() ? isoOf(until) : null;
}

/** What consolidations have found out of a chat model. */
async function copiesOf(model: string, { models }: Models): Promise<ModelView['findings']> {
  const known = await knownCopying(models, model);
  if (!isCopying(known, systemTools.now())) return [];
  const what = `copied the examples of its prompt in ${known.batches} batches in a row, so it is called without examples`;
  return [{ property: 'examples', at: isoOf(known.at), what, remedy: 'a larger model finds more' }];
}
