import type { JsonObject, LaneId, Millis, Owner, TenantId } from '../../words.ts';
import type { Page, Paged } from './page.ts';
import type { Replay } from './replays.ts';

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
  /** See suites/content.ts. */
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
