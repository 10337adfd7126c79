import type { JsonObject, LaneId, Millis, Owner, TenantId } from '../../words.ts';
import type { Page, Paged } from './ledger.ts';

/** Where the state of a run stands: beside the memories of its owner. */
export interface RunPlace {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly runId: string;
}

/** One version of what a run works on. */
export interface TaskState extends RunPlace {
  readonly owner: Owner;
  /** The app that the run was begun under; null: none. */
  readonly appId: string | null;
  /** 1, and one more with each change. */
  readonly version: number;
  readonly document: JsonObject;
  /** When the run's first version was written, and this one. */
  readonly createdAt: Millis;
  readonly writtenAt: Millis;
  /** null: it goes on. */
  readonly endedAt: Millis | null;
  /** This version or one before it was written while its owner wanted nothing remembered. */
  readonly paused: boolean;
}

export interface NewTaskVersion extends RunPlace {
  readonly appId: string | null;
  /** The version that this one replaces; 0: there is none yet. */
  readonly expected: number;
  readonly document: JsonObject;
  /** Nothing comes after it. */
  readonly ends: boolean;
  /** null: the caller gave none. */
  readonly key: { readonly key: string; readonly bodyHash: string } | null;
  readonly now: Millis;
}

export type TaskWritten =
  /** Repeated: the same was written before under the same key, and it is answered with that version. */
  | { readonly kind: 'written'; readonly state: TaskState; readonly repeated: boolean }
  /** Something else was written meanwhile; null: there is none. */
  | { readonly kind: 'conflict'; readonly state: TaskState | null }
  | { readonly kind: 'ended'; readonly state: TaskState }
  /** The key was used for something else. */
  | { readonly kind: 'key_used' }
  /** The owner is being erased. */
  | { readonly kind: 'erased' };

/** Of each run so many versions are kept, the newest. */
export const TASK_VERSIONS_KEPT = 200;

/** What runs work on. Versions follow each other without a gap, and of two writers who read the same one only one is taken. */
export interface TaskStateStore {
  get(place: RunPlace): Promise<TaskState | null>;
  write(version: NewTaskVersion): Promise<TaskWritten>;
  /** Its versions, newest first. */
  history(place: RunPlace, page: Page): Promise<Paged<TaskState>>;
  /** Runs of a lane, as they stand, last changed first. */
  list(
    tenant: TenantId,
    filter: { readonly lane: LaneId; readonly ended?: boolean },
    page: Page,
  ): Promise<Paged<TaskState>>;
  /** Runs of a tenant that ended before this moment go, with all versions; returns how many. */
  drop(tenant: TenantId, endedBefore: Millis, limit: number): Promise<number>;
}
