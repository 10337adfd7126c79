import type { Acknowledged, DuePolicy, Ledger, Log, Nudge, Tools } from '@slowwave/engine';
import type { ImagesTaken } from '@slowwave/http';

/** What the ingest routes work with. */
export interface IngestDeps {
  readonly ledger: Ledger;
  readonly tools: Tools;
  readonly log: Log;
  readonly due: DuePolicy;
  /** Whether there is an image model, and which hosts images may be on. */
  readonly images: ImagesTaken;
  /** New batches are refused above these numbers of waiting ones, and while a tenant's users are late by this much. */
  readonly maxPending: { readonly perTenant: number; readonly total: number; readonly lateMs: number };
  /** Never waited for. */
  acknowledged(acknowledged: Acknowledged): void;
  /** Schedules turns of lanes. Nobody waits for it: the ledger knows what is due, and a sweep finds missing jobs. */
  nudge(nudges: readonly Nudge[]): Promise<void>;
}
