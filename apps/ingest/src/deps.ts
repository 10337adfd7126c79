import type { Acknowledged, DuePolicy, Ledger, Log, Nudge, Tools } from '@slowwave/engine';
import type { ImagesTaken } from '@slowwave/http';

/** What the ingest routes work with. */
export interface IngestDeps {
  readonly ledger: Ledger;
  readonly tools: Tools;
  readonly log: Log;
  readonly due: DuePolicy;
  /** Whether a model is there that describes images, and where these may be. */
  readonly images: ImagesTaken;
  /** From so many waiting batches on new ones are refused, and while a tenant's due users have waited for so long. */
  readonly maxPending: { readonly perTenant: number; readonly total: number; readonly lateMs: number };
  /** Never waited for. */
  acknowledged(acknowledged: Acknowledged): void;
  /** Schedules turns of lanes. Never waited for: the ledger knows what is due, and a sweep finds what was not scheduled. */
  nudge(nudges: readonly Nudge[]): Promise<void>;
}
