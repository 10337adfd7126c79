import { builtinChat } from '@slowwave/builtin-model';
import type { BulkProvider, ChatModel, EngineDeps, Ledger, Log, OtherUse, StepChats } from '@slowwave/engine';
import type { Config, ModelAt } from '../config/index.ts';
import { type BreakingChat, fallbackChat } from '../limits/index.ts';
import { keepingIn, type Limits, limitKey, servers } from './models.ts';

/** The chat models of the configuration, each held to its limits. */
export interface OpenChats extends Pick<EngineDeps, 'chat' | 'chats' | 'otherChat' | 'bulk'> {
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

export function listsOf(config: Config): Lists {
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
