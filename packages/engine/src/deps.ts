import type { OtherUse, StepChats } from './models/steps.ts';
import type { Vectors } from './models/vectors.ts';
import type { DuePolicy, WindowPolicy } from './ports/ledger/lanes.ts';
import type { Ledger } from './ports/ledger/ledger.ts';
import type { BulkProvider, ChatModel, Embedder, Tokenizer } from './ports/models.ts';
import type { SearchIndex } from './ports/search-index.ts';
import type { Log, Meter, Tools } from './ports/tools.ts';
import type { Ceilings } from './settings.ts';

/** What the pipeline works with. */
export interface EngineDeps {
  readonly ledger: Ledger;
  readonly index: SearchIndex;
  /** Asked wherever a step has no model of its own. */
  readonly chat: ChatModel;
  readonly chats: StepChats;
  /** Another chat model, by its name: of the configuration, or at the same place. null: there is none to be asked by name. */
  readonly otherChat: (model: string, use: OtherUse) => ChatModel | null;
  /** Answers backfill at a lower price; null: it is asked as all else. */
  readonly bulk: BulkProvider | null;
  /** Describes images; null: none is configured, and messages with images are refused at the door. */
  readonly imageModel: ChatModel | null;
  readonly tokenizer: Tokenizer;
  readonly embedder: Embedder;
  /** Embeds what is asked. Missing: as what is stored. */
  readonly queries?: Embedder;
  /** Another embedder by the name of its model, for the questions of suites. Missing: none can be asked by name; null: not this one. */
  readonly otherEmbedder?: (model: string) => Promise<NamedEmbedder | null>;
  readonly tools: Tools;
  readonly log: Log;
  readonly meter: Meter;
  readonly settings: EngineSettings;
  /** Whatever it asks, it asks for the run of a suite. Missing: it does not. */
  readonly forSuite?: true;
}

/** An embedder with how its vectors read. */
export interface NamedEmbedder {
  readonly documents: Embedder;
  readonly queries: Embedder;
  readonly vectors: Vectors;
}

export interface EngineSettings {
  readonly due: DuePolicy;
  readonly window: WindowPolicy;
  readonly recallPerFact: number;
  readonly vectors: Vectors;
  readonly messagesInIndex: MessagesInIndex;
  /** Messages before the new ones that an extract call may read. */
  readonly recentMessages: number;
  /** New messages one extract call reads at most, in tokens; a longer window is read in parts. */
  readonly partTokens: number;
  /** Facts and memories one decide call is shown at most, in tokens; more are decided in several calls. */
  readonly decideTokens: number;
  readonly maxAttempts: number;
  /** The first wait after a failed try; it doubles up to the longest. */
  readonly retryDelayMs: number;
  readonly retryDelayMaxMs: number;
  /** More deletions than this in one consolidation are refused: a model in doubt must not empty a memory. */
  readonly deletesPerConsolidation: number;
  readonly near: NearThresholds;
  /** Whether consolidations wait until the models in use have passed the gate of their tenant. Missing: they do not. */
  readonly waitsForGate?: boolean;
  /** What a day of each tenant may use at most that has no ceilings of its own. */
  readonly ceilings: Ceilings;
}

/**
 * Whether raw messages are searchable beside the memories made of them: by words and vectors, by words alone (nothing is
 * embedded), or not at all.
 */
export type MessagesInIndex = 'hybrid' | 'keyword' | 'off';

/** From where on a memory counts as a neighbour worth a decision, on raw scores. */
export interface NearThresholds {
  readonly vector: number;
  readonly keyword: number;
  /** Between two facts of one batch, on their vectors: most of them are said of the same person, and nothing else. */
  readonly pair: number;
  /** The same, where no index can weigh words: shared terms, 0…1. */
  readonly overlap: number;
}
