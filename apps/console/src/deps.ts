import type {
  Cancellation,
  Ceilings,
  ChatModel,
  Examination,
  GraphWriter,
  HowToExamine,
  LaneId,
  Ledger,
  Log,
  MemoryWriter,
  NewBatch,
  Nudge,
  Plan,
  Reviewer,
  TenantId,
  Tools,
  Undoer,
} from '@slowwave/engine';
import { type ImagesTaken, routesWith } from '@slowwave/http';
import type { Queue } from 'bullmq';

/** What the manage routes work with. */
export interface ConsoleDeps {
  readonly ledger: Ledger;
  readonly writer: MemoryWriter;
  readonly graphWriter: GraphWriter;
  readonly reviewer: Reviewer;
  readonly undoer: Undoer;
  readonly tools: Tools;
  readonly log: Log;
  /** Another chat model by its name, for what-ifs; null: there is none to be asked. */
  otherChat(model: string): ChatModel | null;
  /** Chat models that tenants may name; operators may name any. */
  readonly tenantModels: readonly string[];
  /** What a day of each tenant may use at most that has no ceilings of its own. */
  readonly ceilings: Ceilings;
  /** Whether a model is there that describes images, and where these may be. */
  readonly images: ImagesTaken;
  /** The plan of a batch, with nothing written. */
  preview(batch: NewBatch, cancel: Cancellation): Promise<Plan>;
  /** Looks whether every promise holds. */
  examine(how: HowToExamine): Promise<Examination>;
  /** A secret for a new key, and what is kept of it. */
  newSecret(keyId: string): { readonly secret: string; readonly hash: string };
  /** Whom webhooks may be sent to, and what they are signed with. */
  readonly webhooks: {
    /** Throws where a URL leads nowhere it may. */
    check(url: string): unknown;
    newSecret(): string;
  };
  /** The queues shown at /queues. */
  readonly queues: readonly Queue[];
  /** Schedules turns of lanes. Never waited for: a sweep finds what was not scheduled. */
  nudge(nudges: readonly Nudge[]): Promise<void>;
  /** The parked batches of a lane are replayed. Returns how many. */
  replayLane(lane: LaneId): Promise<number>;
}

export const routesOf = routesWith<ConsoleDeps, TenantId>();
