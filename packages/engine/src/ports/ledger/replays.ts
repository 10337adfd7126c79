import type {
  BatchState,
  Failure,
  JsonObject,
  LaneId,
  Memory,
  MemoryEvent,
  Millis,
  Owner,
  TenantId,
} from '../../words.ts';
import type { Nudge } from '../schedule.ts';
import type { Batch } from './lanes.ts';
import type { Page, Paged } from './ledger.ts';

/** Which batches a replay is about. What is left out filters nothing. */
export interface ReplayFilter {
  readonly states: readonly BatchState[];
  readonly ids?: readonly string[];
  readonly lane?: LaneId;
  readonly userId?: string;
  /** Of the run of a suite alone: which one it is of. */
  readonly suite?: string;
  /** What decides what is remembered in this run: see suites/gate.ts. */
  readonly decided?: string;
  /** The embedding model that its questions are asked with; missing: the usual one. */
  readonly embedder?: string;
  /** The tokens that this run may use. */
  readonly budget?: number;
  /** Of the failure a batch shows. */
  readonly errorCode?: string;
  /** By when a batch was accepted: since, and before. */
  readonly since?: Millis;
  readonly until?: Millis;
}

/**
 * A replay's life:
 *   preparing   stored. A live one puts its batches back in line, slice by slice, from the transaction that stores it on;
 *               a what-if sets up its shadow space.
 *   running     its batches are consolidated like all others.
 *   done        none of them waits any more. A what-if has its result, and a space until it is discarded.
 *   failed      it could not be prepared, for a reason that time does not mend.
 *   discarding  a what-if's space is being removed.
 *   discarded   it is gone. The record stays.
 */
export type ReplayState = 'preparing' | 'running' | 'done' | 'failed' | 'discarding' | 'discarded';

/**
 * live: parked batches wait again. what_if: copies of batches are consolidated in a space of their own. suite: the cases of a
 * suite are, and what comes of them is held against what was stored.
 */
type ReplayKind = 'live' | 'what_if' | 'suite';

export interface Replay {
  readonly id: string;
  readonly tenant: TenantId;
  readonly kind: ReplayKind;
  readonly state: ReplayState;
  readonly filter: ReplayFilter;
  /** What a what-if does otherwise than was done; read by those who carry it out. */
  readonly changes: JsonObject;
  /** Batches that matched when it was asked for. */
  readonly matched: number;
  /** Tokens that the run of a suite has used, and what its open calls may use besides. */
  readonly spent: number;
  readonly reserved: readonly ReservedTokens[];
  readonly failure: Failure | null;
  readonly result: JsonObject | null;
  readonly createdAt: Millis;
  readonly finishedAt: Millis | null;
  /** When the space of a what-if goes by itself. */
  readonly expiresAt: Millis | null;
}

export interface NewReplay extends Pick<Replay, 'id' | 'tenant' | 'kind' | 'filter' | 'changes' | 'matched'> {
  /** The batches of a what-if; a live one finds its own. */
  readonly batchIds: readonly string[];
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
  readonly now: Millis;
}

export type ReplayCreated =
  | { readonly kind: 'stored' }
  /** The same key with the same body came before. */
  | { readonly kind: 'repeated'; readonly id: string }
  /** The same key with another body came before. */
  | { readonly kind: 'conflict' };

/** A step from one state to the next. What is left out stays as it is. */
export interface ReplayStep {
  readonly from: ReplayState;
  readonly to: ReplayState;
  /** When somebody should look at it again; null: never. */
  readonly dueAt: Millis | null;
  readonly failure?: Failure;
  readonly result?: JsonObject;
  readonly finishedAt?: Millis;
  readonly expiresAt?: Millis | null;
}

/** Batches of a live replay that wait again. */
interface ReplaySlice {
  readonly replayed: readonly string[];
  readonly nudges: readonly Nudge[];
  /** Their lanes in which nothing is parked any more. */
  readonly cleared: readonly LaneId[];
  readonly more: boolean;
}

/** A memory with the events that made it, up to a moment. */
export interface Life {
  readonly memory: Memory;
  /** In the order of their revisions. */
  readonly events: readonly MemoryEvent[];
}

export interface ReplaySize {
  readonly batches: number;
  readonly backfill: number;
  readonly tokens: number;
  readonly messages: number;
  readonly owners: number;
}

export interface ReplayStore {
  /** How many batches match, and the first of them, oldest first. */
  match(
    tenant: TenantId,
    filter: ReplayFilter,
    limit: number,
  ): Promise<{ readonly matched: number; readonly batches: readonly Batch[] }>;
  /** How much matches: its tokens and messages, of how many owners, and how many of the batches are backfill. */
  size(tenant: TenantId, filter: ReplayFilter): Promise<ReplaySize>;
  create(replay: NewReplay): Promise<ReplayCreated>;
  get(tenant: TenantId, id: string): Promise<Replay | null>;
  list(tenant: TenantId, page: Page): Promise<Paged<Replay>>;
  /** One that is due, of any tenant, longest due first: nobody else gets it before `until`. */
  take(now: Millis, until: Millis): Promise<Replay | null>;
  /**
   * The next batches of a live replay wait again, due now, at their old positions, with their attempts at zero, in one
   * transaction with the note of how far it is. Batches that are not parked any more are left alone, each is taken once.
   * After the last slice it is running.
   */
  advance(id: string, how: { readonly limit: number; readonly now: Millis }): Promise<ReplaySlice>;
  /** The batches of a replay as they are now; those of a what-if as they are in life. Oldest first. */
  batches(id: string, limit: number): Promise<readonly Batch[]>;
  /** How many batches of a replay are in each state now. */
  states(id: string): Promise<Readonly<Partial<Record<BatchState, number>>>>;
  /** false: it is not in that state. */
  move(id: string, step: ReplayStep): Promise<boolean>;
  /** Reserves tokens for a call of a run, as many as there are up to what it may take. null: too few are left of its budget. */
  reserve(id: string, asked: AskedReservation): Promise<number | null>;
  /** The call is over and has used so many; its reservation goes. */
  settle(id: string, call: { readonly id: string; readonly tokens: number }): Promise<void>;
  /** Filters no longer name the owner, and results no longer mention it. */
  forget(tenant: TenantId, owner: Owner): Promise<void>;
  /** Memories of a lane with what was recorded of them before a moment, by id; `after` is the last one's. */
  lives(
    lane: LaneId,
    before: Millis,
    page: { readonly after: string | null; readonly limit: number },
  ): Promise<readonly Life[]>;
}

/** Conversations with what was made of them, to be consolidated again with other settings. */
export interface Suite {
  readonly id: string;
  readonly tenant: TenantId;
  /** What the tenant calls it; no two of its suites are called so. */
  readonly name: string;
  readonly origin: 'production' | 'file';
  /** Personal data was masked in its cases. */
  readonly masked: boolean;
  /** Which margins its runs are held against, where they differ from those of the figures. */
  readonly margins: JsonObject;
  readonly createdAt: Millis;
}

/** One owner's part of a suite. */
export interface SuiteCase {
  readonly id: string;
  readonly suiteId: string;
  /** From 0, in the order in which they were given. */
  readonly place: number;
  readonly owner: Owner;
  /** The lane it was recorded from: it goes with its owner. null: it came from a file. */
  readonly lane: LaneId | null;
  /** See suites/cases.ts. */
  readonly content: JsonObject;
}

/** What a person thinks of a fact of a run, or of what was made of a message. It holds no words of anybody. */
export interface Assessment {
  /** A fact, as consolidation/fact, or a message of the run's space. */
  readonly item: string;
  /** Who says so, as they call themselves. */
  readonly by: string;
  /** Of facts: agree, wrong. Of messages: whether all of them was found. */
  readonly verdict: 'agree' | 'wrong' | 'complete' | 'missing';
}

export interface SuiteStore {
  /** false: the tenant has one of this name. Cases of lanes that are being erased, and those that say what is forgotten, are left out. */
  create(suite: Suite, cases: readonly Omit<SuiteCase, 'suiteId'>[]): Promise<boolean>;
  find(tenant: TenantId, name: string): Promise<Suite | null>;
  get(tenant: TenantId, id: string): Promise<Suite | null>;
  list(tenant: TenantId, page: Page): Promise<Paged<Suite>>;
  /** By place; `after` is the last one's, -1 for the first page. */
  cases(suiteId: string, page: { readonly after: number; readonly limit: number }): Promise<readonly SuiteCase[]>;
  /** Replaces the margins. */
  setMargins(tenant: TenantId, id: string, margins: JsonObject): Promise<boolean>;
  /** With its cases, the spaces of its runs, and what their reports quote; figures stay. */
  remove(tenant: TenantId, id: string): Promise<boolean>;
  /** Later assessments of somebody take the place of earlier ones. */
  assess(run: string, assessments: readonly Assessment[]): Promise<void>;
  /** All of a run. */
  assessments(run: string): Promise<readonly Assessment[]>;
  /** Its runs, newest first. */
  runs(tenant: TenantId, suiteId: string, page: Page): Promise<Paged<Replay>>;
}

/** Tokens that an open call of a run may use. Where nobody settles it, since its process died, it lapses. */
export interface ReservedTokens {
  readonly id: string;
  readonly tokens: number;
  readonly until: Millis;
}

interface AskedReservation {
  readonly id: string;
  /** Of fewer tokens the call has no use; more than `most` it never takes. */
  readonly least: number;
  readonly most: number;
  readonly budget: number;
  readonly now: Millis;
  readonly until: Millis;
}

interface Standing {
  /** By calls that are over. */
  readonly spent: number;
  readonly reserved: readonly ReservedTokens[];
}

export const openAt = (reserved: readonly ReservedTokens[], now: Millis): readonly ReservedTokens[] =>
  reserved.filter(({ until }) => until > now);

/** What is reserved from then on, the last one for this call; null: the budget has no room for it. */
export function withReservation(
  { spent, reserved }: Standing,
  asked: AskedReservation,
): readonly ReservedTokens[] | null {
  const open = openAt(reserved, asked.now);
  const left = asked.budget - open.reduce((sum, { tokens }) => sum + tokens, spent);
  if (left < asked.least) return null;
  return [...open, { id: asked.id, tokens: Math.min(left, asked.most), until: asked.until }];
}
