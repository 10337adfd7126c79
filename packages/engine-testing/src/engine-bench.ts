import {
  type BatchSettings,
  type BulkProvider,
  type ChatModel,
  DEFAULT_TENANT,
  type Embedder,
  type EngineSettings,
  type FollowUps,
  HASHED,
  type JsonObject,
  type Ledger,
  liveVersion,
  type Memory,
  type Meter,
  type Millis,
  markerOf,
  type NewMessage,
  type Nudge,
  type OtherUse,
  ownerOf,
  type Plan,
  type Priority,
  type Scope,
  type SearchIndex,
  type StepChats,
  silentMeter,
  type TurnDeps,
  takeTurn,
  type Verdict,
} from '@slowwave/engine';
import { bitsOf, newBatch, newMessage, scope, settings } from './builders.ts';
import { estimatingTokenizer } from './estimating-tokenizer.ts';
import { fakeEmbedder } from './fake-models.ts';
import { type FixedTools, fixedTools, recordingLog } from './fixed-tools.ts';
import { createMemoryIndex } from './memory-index.ts';
import { createMemoryLedger } from './memory-ledger.ts';

/** The engine with nothing real around it: in-memory stores unless others are given, a scripted model, a clock that is set by hand. */
export interface EngineBench {
  readonly deps: TurnDeps;
  readonly tools: FixedTools;
  /** Appends one batch; strings are user messages. */
  post(messages: readonly (string | Partial<NewMessage>)[], given?: PostOptions): Promise<string>;
  /** Takes turns until no lane is due any more. Answers with every verdict. */
  run(): Promise<readonly Verdict[]>;
  memories(userId?: string): Promise<readonly Memory[]>;
  /** The texts that hold now, sorted. */
  live(userId?: string): Promise<readonly string[]>;
  /** What was thought of a batch. */
  plan(batchId: string): Promise<Plan>;
}

export interface PostOptions {
  readonly userId?: string;
  readonly priority?: Priority;
  /** Other ids of the scope, or other ones. */
  readonly scope?: Partial<Scope>;
  readonly settings?: Partial<BatchSettings>;
  readonly at?: Millis;
  /** Due at once, unless said otherwise. */
  readonly flush?: boolean;
  readonly metadata?: JsonObject;
}

export interface BenchOptions {
  readonly chat: ChatModel;
  /** No step has a model of its own, unless given. */
  readonly chats?: StepChats;
  /** None, unless given. */
  readonly otherChat?: (model: string, use: OtherUse) => ChatModel | null;
  readonly embedder?: Embedder;
  /** In memory, unless given. */
  readonly stores?: { readonly ledger: Ledger; readonly index: SearchIndex };
  /** None, unless given. */
  readonly bulk?: BulkProvider;
  /** None, unless given. */
  readonly imageModel?: ChatModel;
  readonly settings?: Partial<EngineSettings>;
  /** Nothing is measured, unless given. */
  readonly meter?: Meter;
  /** What consolidations leave for later; nothing becomes of it unless said otherwise. */
  readonly followUps?: FollowUps;
}

/** No step has a chat model of its own, and none can be asked by name. */
export const ONE_CHAT = { chats: {}, otherChat: () => null };

/** No cancellation ever comes. */
export const NEVER = { aborted: false, addEventListener: () => {}, removeEventListener: () => {} };

const SETTINGS: EngineSettings = {
  due: { tokens: 1_024, idleMs: 1_000, maxAgeMs: 10_000 },
  window: { maxTokens: 8_000, maxBatches: 50 },
  recallPerFact: 10,
  ceilings: { tokensPerDay: null, costPerDay: null },
  messagesInIndex: 'hybrid',
  recentMessages: 10,
  partTokens: 24_000,
  decideTokens: 96_000,
  maxAttempts: 3,
  retryDelayMs: 1_000,
  retryDelayMaxMs: 10_000,
  deletesPerConsolidation: 10,
  vectors: HASHED,
  near: { vector: 0.1, keyword: 0.1, pair: 0.1, overlap: 0.1 },
};

/** More turns than any scenario needs: a lane that never comes to rest fails the test instead of hanging it. */
const TURNS_MAX = 2_000;

export async function engineBench(options: BenchOptions): Promise<EngineBench> {
  const tools = fixedTools();
  const embedder = options.embedder ?? fakeEmbedder(512);
  const { ledger, index } = options.stores ?? { ledger: createMemoryLedger({ tools }), index: createMemoryIndex() };
  const deps: TurnDeps = {
    ledger,
    index,
    chat: options.chat,
    chats: options.chats ?? ONE_CHAT.chats,
    otherChat: options.otherChat ?? ONE_CHAT.otherChat,
    bulk: options.bulk ?? null,
    imageModel: options.imageModel ?? null,
    tokenizer: estimatingTokenizer,
    embedder,
    tools,
    log: recordingLog(),
    meter: options.meter ?? silentMeter,
    settings: { ...SETTINGS, ...options.settings },
    followUps: options.followUps ?? { summarize: async () => {}, study: async () => {}, sleep: async () => {} },
  };
  await index.stamp(markerOf(deps));
  const memories = async (userId = 'ann'): Promise<readonly Memory[]> => {
    const owner = ownerOf(scope({ userId }));
    return (await ledger.memories.every(null, 100_000)).filter((memory) => memory.owner.id === owner.id);
  };
  return {
    deps,
    tools,
    post: async (messages, given = {}) => {
      const inScope = scope({ userId: given.userId ?? 'ann', ...given.scope });
      const bits = bitsOf(tools, ownerOf(inScope));
      const batch = newBatch(tools, {
        scope: inScope,
        settings: settings(given.settings),
        messages: messages.map((message) => newMessage(tools, saidBy(message, given.at ?? null), bits)),
        metadata: given.metadata ?? {},
        flush: given.flush ?? true,
        priority: given.priority ?? 'live',
      });
      await ledger.batches.append(batch, deps.settings.due);
      return batch.id;
    },
    run: () => runUntilQuiet(deps, tools),
    memories,
    plan: async (batchId) => {
      const batch = await ledger.batches.get(DEFAULT_TENANT, batchId);
      const plan = await ledger.thoughts.plan(batch?.consolidationId ?? '');
      if (plan === null) throw new Error(`batch ${batchId} is ${batch?.state}: nothing was planned for it`);
      return plan;
    },
    live: async (userId) => (await memories(userId)).flatMap((memory) => liveVersion(memory)?.text ?? []).sort(),
  };
}

const saidBy = (given: string | Partial<NewMessage>, at: Millis | null): Partial<NewMessage> =>
  typeof given === 'string' ? { content: given, at } : { at, ...given };

async function runUntilQuiet(deps: TurnDeps, tools: FixedTools): Promise<readonly Verdict[]> {
  const handle = takeTurn(deps);
  const verdicts: Verdict[] = [];
  while (verdicts.length < TURNS_MAX) {
    const [nudge] = await deps.ledger.lanes.withWork(null, 1);
    if (nudge === undefined) return verdicts;
    tools.advance(Math.max(0, nudge.dueAt - tools.now()));
    verdicts.push(await handle(turnOf(nudge), NEVER));
  }
  throw new Error(`lanes did not come to rest within ${TURNS_MAX} turns`);
}

const turnOf = ({ lane, generation }: Nudge) => ({ lane, generation });
