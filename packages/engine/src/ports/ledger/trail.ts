import type { Millis, TenantId } from '../../words.ts';
import type { Page, Paged } from './page.ts';

/** done: below 400. refused: nobody may, or not now (401, 403, 429). failed: everything else. */
export type TrailOutcome = 'done' | 'refused' | 'failed';

/** Statuses of answers to who may not, or not now. */
export const REFUSED_STATUSES: readonly number[] = [401, 403, 429];
/** From here on an answer says that something was not done. */
export const FIRST_FAILED_STATUS = 400;

export function outcomeOf(status: number): TrailOutcome {
  if (status < FIRST_FAILED_STATUS) return 'done';
  return REFUSED_STATUSES.includes(status) ? 'refused' : 'failed';
}

/** What a request was about: an owner (user, agent, run), or a thing of ours by its id. Never what was said. */
export interface TrailSubject {
  /** user, agent, run, memory, batch, key, …; erasure where the owner was erased: its id is forgotten. */
  readonly kind: string;
  readonly id: string;
}

/** Who asked for what, and what came of it. Written once; only the erasure of its subject ever changes it. */
export interface TrailEntry {
  readonly id: string;
  readonly tenant: TenantId;
  /** When the request came. */
  readonly at: Millis;
  /** The id of a key, or operator, loopback, offline, nobody. */
  readonly by: string;
  /** Asked from a page that somebody had signed in to. */
  readonly session: boolean;
  /** Method and template of the route, e.g. DELETE /v1/memories/{id}. */
  readonly action: string;
  readonly subject: TrailSubject | null;
  readonly status: number;
  /** Of the problem that was answered. */
  readonly code: string | null;
  /** null: it named an owner that was erased. */
  readonly requestId: string | null;
}

/** What the entry of nearly every request says: a new batch was posted. One that was posted before is answered otherwise. */
export const POST = { action: 'POST /v1/batches', status: 202, subject: 'batch' } as const;

export const isPost = ({
  action,
  status,
  code,
  subject,
}: Omit<TrailEntry, 'id' | 'tenant' | 'at' | 'by' | 'session' | 'requestId'>): boolean =>
  action === POST.action && status === POST.status && code === null && subject?.kind === POST.subject;

/** The id of such an entry. A batch is new once. */
export const idOfPost = (batchId: string): string => `aud_${batchId.slice('bat_'.length)}`;

export interface NewTrailEntry extends TrailEntry {
  /** As an erasure of the subject has it; null: the subject is no owner. */
  readonly ownerHash: string | null;
}

export interface TrailFilter {
  readonly by?: string;
  /** The id of a subject. */
  readonly subject?: string;
  readonly action?: string;
  readonly outcome?: TrailOutcome;
  readonly since?: Millis;
  /** Not included. */
  readonly until?: Millis;
}

/** The audit log: who did what. Append-only, but for erasures and for what is old. */
export interface TrailStore {
  /**
   * An entry that is there already is left as it is. One from before the erasure of its owner was over names the erasure
   * instead, however late it comes.
   */
  append(entries: readonly NewTrailEntry[]): Promise<void>;
  list(tenant: TenantId, filter: TrailFilter, page: Page): Promise<Paged<TrailEntry>>;
  /** At most `limit` entries about the owner of an erasure name the erasure instead. Returns how many. */
  forgetOwner(erasureId: string, limit: number): Promise<number>;
  /** At most `limit` entries from before a moment go, or rows of them; some of the last seconds before it stay. Returns how many. */
  drop(before: Millis, limit: number): Promise<number>;
}
