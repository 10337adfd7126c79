import type { Failure, JsonObject, LaneId, Millis, Owner, TenantId } from '../../words.ts';
import type { Nudge } from '../schedule.ts';
import type { Undoing, Undone } from './feedback.ts';
import type { Page, Paged } from './ledger.ts';

/**
 * A canary's life:
 *   running   owners in its share are consolidated with its changes, and its figures are watched.
 *   done      it has passed its last step: its changes hold for everybody until somebody promotes or stops it.
 *   halted    a figure went past its bound, or somebody asked for the undo: nothing is consolidated with its changes any
 *             more, and its lanes are held.
 *   undoing   what was consolidated with its changes, and everything after that in the same lanes, is undone and waits
 *             again in its old order.
 *   undone    all of that is consolidated again.
 *   promoted  its changes are the tenant's settings, or whoever operates the service has set them.
 *   stopped   somebody ended it; what it wrote stays.
 */
export type CanaryState = 'running' | 'done' | 'halted' | 'undoing' | 'undone' | 'promoted' | 'stopped';

/** In these states it has a tenant to itself. */
export const OPEN_CANARY_STATES: readonly CanaryState[] = ['running', 'done', 'halted', 'undoing'];

export interface CanaryStep {
  /** Of the owners, in percent. */
  readonly share: number;
  /** The next step comes no sooner than after both. */
  readonly minMs: Millis;
  readonly minConsolidations: number;
}

/** What the second consolidation of an undo may use. null: no limit. */
export interface UndoBudget {
  readonly calls: number | null;
  readonly tokens: number | null;
  /** In the currency of the tenant's prices. */
  readonly cost: number | null;
}

export interface Canary {
  readonly id: string;
  readonly tenant: TenantId;
  readonly state: CanaryState;
  /** What it does otherwise; read by those who carry it out. */
  readonly changes: JsonObject;
  readonly steps: readonly CanaryStep[];
  /** The place of its step in the list. */
  readonly step: number;
  readonly stepAt: Millis;
  /** By figure: how much worse than the rest it may be. */
  readonly bounds: Readonly<Record<string, number>>;
  /** Whether what it wrote is undone as soon as it halts. */
  readonly undo: 'automatic' | 'manual';
  readonly budget: UndoBudget;
  /** The figures of both sides when they were last looked at. */
  readonly watched: JsonObject | null;
  /** Why it halted. */
  readonly halt: Failure | null;
  /** Why the undo waits. */
  readonly waiting: Failure | null;
  readonly createdAt: Millis;
  readonly finishedAt: Millis | null;
}

export type NewCanary = Pick<
  Canary,
  'id' | 'tenant' | 'changes' | 'steps' | 'bounds' | 'undo' | 'budget' | 'createdAt'
>;

/** A move from one state to the next. What is left out stays as it is. */
export interface CanaryMove {
  readonly from: CanaryState;
  readonly to: CanaryState;
  /** When somebody should look at it again; null: never. */
  readonly dueAt: Millis | null;
  readonly step?: { readonly number: number; readonly at: Millis };
  readonly budget?: UndoBudget;
  readonly watched?: JsonObject;
  readonly halt?: Failure;
  readonly waiting?: Failure | null;
  readonly finishedAt?: Millis | null;
}

/** Tells webhooks of a move, in its transaction. */
export interface CanaryNews {
  readonly type: 'canary.halted' | 'canary.undone' | 'canary.promoted' | 'canary.step';
  readonly at: Millis;
  readonly data: JsonObject;
}

/**
 * held: nothing of it is consolidated. replayed: its batches wait again, or are worked on. done: they are consolidated.
 * left: it stays as it is, since retention has removed what an undo would need.
 */
type CanaryLaneState = 'held' | 'replayed' | 'done' | 'left';

/** A lane that an undo has to do with, and what was undone in it. */
export interface CanaryLane {
  readonly lane: LaneId;
  readonly state: CanaryLaneState;
  readonly consolidations: number;
  readonly batches: number;
  /** What was undone had asked of models: so much is expected of the second consolidation. */
  readonly expected: Spent;
  /** What the second consolidation has asked of them so far. */
  readonly used: Spent;
}

/** What consolidations have asked of models. */
export interface Spent {
  readonly calls: number;
  readonly tokens: number;
  /** null: a price is missing. */
  readonly cost: number | null;
}

/** A consolidation that ended, as it is watched. */
export interface WatchedConsolidation {
  readonly id: string;
  readonly lane: LaneId;
  readonly batchIds: readonly string[];
}

/** What an undo takes back of a lane, newest first. */
interface CanaryWork {
  readonly consolidations: readonly { readonly id: string; readonly batchIds: readonly string[] }[];
  /** Batches that were parked with the changes of the canary. */
  readonly parked: readonly string[];
}

export interface CanaryStore {
  /** false: the tenant has an open one already. */
  create(canary: NewCanary): Promise<boolean>;
  get(tenant: TenantId, id: string): Promise<Canary | null>;
  list(tenant: TenantId, page: Page): Promise<Paged<Canary>>;
  /** One that is due, of any tenant, longest due first: nobody else gets it before `until`. */
  take(now: Millis, until: Millis): Promise<Canary | null>;
  /** false: it is not in that state, or would be open beside another one. */
  move(id: string, move: CanaryMove, news?: CanaryNews): Promise<boolean>;
  /** The newest ones that were begun from one moment until another and have ended: with the changes of a canary, or with those of none. */
  watched(
    tenant: TenantId,
    canary: string | null,
    how: { readonly since: Millis; readonly until: Millis; readonly limit: number },
  ): Promise<readonly WatchedConsolidation[]>;
  /** How many windows that were pinned before a moment have not ended yet: with the changes of a canary, and with those of none. */
  stuck(tenant: TenantId, canary: string, before: Millis): Promise<{ readonly canary: number; readonly rest: number }>;
  /** How many that were begun with the changes of a canary since a moment are applied. */
  appliedSince(canary: string, since: Millis): Promise<number>;
  /** How many owners of the tenant there are, and in how many lanes something was consolidated with the changes of a canary. */
  reach(tenant: TenantId, canary: string): Promise<{ readonly owners: number; readonly touched: number }>;
  /** Open canaries of all tenants by their state, and the lanes that are held for one. */
  counts(): Promise<{ readonly open: Readonly<Partial<Record<CanaryState, number>>>; readonly held: number }>;
  /** Lanes in which a canary's changes were used, by id, whether anything of it is undone or not. */
  touched(canary: string, page: { readonly after: LaneId | null; readonly limit: number }): Promise<readonly LaneId[]>;
  /**
   * The next lanes in which a canary's changes were, or are being, used are held, each in the order of their ids: no turn is
   * claimed in them, and whoever works on one may write no more; its batches wait again. `pinned`: only where they are being used.
   */
  hold(
    canary: string,
    how: { readonly pinned: boolean; readonly limit: number; readonly now: Millis },
  ): Promise<readonly LaneId[]>;
  /** Turns of a lane are claimed again, and its undo goes on as `state`; null: it is no lane of an undo. Answers null where nothing waits. */
  letGo(
    canary: string,
    lane: LaneId,
    how: { readonly state: CanaryLaneState | null; readonly now: Millis },
  ): Promise<Nudge | null>;
  /** The lanes of an undo, by id. */
  lanes(
    canary: string,
    filter: { readonly state?: CanaryLaneState; readonly after?: LaneId; readonly limit: number },
  ): Promise<readonly CanaryLane[]>;
  /** What is left to take back in a lane: consolidations with the canary's changes, and all that were applied after the first of them. */
  work(canary: string, lane: LaneId, limit: number): Promise<CanaryWork>;
  /** Writes an undo and lets its batches wait again at their old positions, in one transaction with the note of it. */
  takeBack(canary: string, undoing: Undoing, expected: Spent): Promise<Undone>;
  /** Parked batches of a held lane wait again. */
  replay(
    canary: string,
    lane: LaneId,
    how: { readonly batchIds: readonly string[]; readonly now: Millis },
  ): Promise<void>;
  /** Consolidations of the batches that wait again, as far as they are applied; `open`: batches that are not through. */
  again(canary: string, lane: LaneId): Promise<{ readonly open: number; readonly consolidations: readonly string[] }>;
  /** The lane goes on in its undo. */
  mark(canary: string, lane: LaneId, how: { readonly state: CanaryLaneState; readonly used: Spent }): Promise<void>;
}

export const NOTHING_SPENT: Spent = { calls: 0, tokens: 0, cost: 0 };

export const addSpent = (a: Spent, b: Spent): Spent => ({
  calls: a.calls + b.calls,
  tokens: a.tokens + b.tokens,
  cost: a.cost === null || b.cost === null ? null : a.cost + b.cost,
});

/** A canary that is in force: new turns of the owners in its share are consolidated with its changes. */
interface InForce {
  readonly id: string;
  /** Of the owners, in percent. */
  readonly share: number;
}

/** Whether a canary is for this owner. The same owners stay in as the share grows, and each canary has others. */
export const isInShare = ({ id, share }: InForce, { kind, id: owner }: Owner): boolean =>
  placeOf(JSON.stringify([id, kind, owner])) < share;

/** Evenly from 0 to 100. The threads of a store have no hash at hand: FNV-1a, with the last mixing of MurmurHash3. */
function placeOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) * (100 / 2 ** 32);
}
