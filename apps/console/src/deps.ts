import type { ModelView } from '@slowwave/contracts';
import type {
  BundleStore,
  Cancellation,
  Ceilings,
  EngineDeps,
  Examination,
  GraphWriter,
  HowToExamine,
  IndexMoves,
  LaneId,
  Ledger,
  Log,
  MemoryWriter,
  NewBatch,
  NightSettler,
  Nudge,
  Owner,
  Plan,
  Question,
  Rater,
  Reviewer,
  Segment,
  StoredAnswer,
  TenantCopyStore,
  TenantId,
  ThoughtOf,
  Tools,
  TriedSettings,
  Undoer,
  Withdrawer,
} from '@slowwave/engine';
import { type ImagesTaken, routesWith } from '@slowwave/http';
import type { Queue } from 'bullmq';

/** What the manage routes work with. */
export interface ConsoleDeps {
  readonly ledger: Ledger;
  /** Owners as they travel from one ledger to another. */
  readonly bundles: BundleStore;
  /** Owners that sleep; null: nobody does. */
  readonly cold: {
    list(tenant: TenantId, after: string | null, limit: number): Promise<readonly Segment[]>;
    /** null: there is no such owner. */
    cool(tenant: TenantId, owner: Owner): Promise<'cooled' | 'kept' | 'asleep' | null>;
    /** false: it was awake. */
    wakeOwner(tenant: TenantId, owner: Owner): Promise<boolean>;
    /** Deletes objects that the ledger does not know, and names them. */
    deleteUnknown(): Promise<readonly string[]>;
  } | null;
  /** What tenants have in common, as it goes from cell to cell. */
  readonly copies: TenantCopyStore;
  /** The name of this cell; null: it is none. */
  readonly cell: string | null;
  /** Waits until what came with a lane is in the index; of a very large one for some seconds. */
  makeSearchable(lane: LaneId): Promise<void>;
  readonly writer: MemoryWriter;
  readonly rater: Rater;
  readonly graphWriter: GraphWriter;
  readonly reviewer: Reviewer;
  readonly undoer: Undoer;
  readonly nightSettler: NightSettler;
  readonly withdrawer: Withdrawer;
  readonly tools: Tools;
  readonly log: Log;
  /** Another chat model by its name, for what-ifs and for steps; null: there is no model server. */
  readonly otherChat: EngineDeps['otherChat'];
  /** Another embedder by its name, for questions of suites; null: there is no embedding server. */
  readonly otherEmbedder: NonNullable<EngineDeps['otherEmbedder']>;
  /** Chat models that tenants may name; operators may name any. */
  readonly tenantModels: readonly string[];
  /** What was found out about the models of servers, and how they are doing. */
  models(): Promise<ModelView[]>;
  /** The move of the index to another embedder. */
  readonly moves: Omit<IndexMoves, 'work'>;
  /** The daily limits of tenants without own ceilings. */
  readonly ceilings: Ceilings;
  /** Whether there is an image model, and which hosts images may be on. */
  readonly images: ImagesTaken;
  /** The plan of a batch, with nothing written; `tried` in the place of the tenant's own settings. */
  preview(asked: { readonly batch: NewBatch; readonly tried: TriedSettings }, cancel: Cancellation): Promise<Plan>;
  /** What models were sent for a consolidation, by their answers. */
  questions(thought: ThoughtOf, cancel: Cancellation): Promise<ReadonlyMap<StoredAnswer, Question>>;
  /** Checks the consistency of all data. */
  examine(how: HowToExamine): Promise<Examination>;
  /** A secret for a new key, and its hash to store. */
  newSecret(keyId: string): { readonly secret: string; readonly hash: string };
  /** Checks the URLs of webhooks and creates their secrets. */
  readonly webhooks: {
    /** Throws if a URL is not allowed. */
    check(url: string): unknown;
    newSecret(): string;
  };
  /** The queues shown at /queues. */
  readonly queues: readonly Queue[];
  /** Schedules turns of lanes. Nobody waits for it: a sweep finds missing jobs. */
  nudge(nudges: readonly Nudge[]): Promise<void>;
  /** Failed turns of these lanes are no longer shown at /queues. */
  forgetFailed(lanes: readonly LaneId[]): Promise<void>;
  /** Replays the parked batches of a lane. Returns how many. */
  replayLane(lane: LaneId): Promise<number>;
}

export const routesOf = routesWith<ConsoleDeps, TenantId>();
