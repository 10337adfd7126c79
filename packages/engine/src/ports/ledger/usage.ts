import type { Climbed, Economy, Spending } from '../../limits/economy.ts';
import { DAY_MS } from '../../text/dates.ts';
import type { LaneId, Millis, Owner, TenantId } from '../../words.ts';
import type { TokenUse } from '../models.ts';
import type { Page, Paged } from './ledger.ts';
import type { UsageStep } from './overview.ts';

/** Why a model is asked; `causeOf` says which of them it is. */
export const CAUSES = [
  'live',
  'retry',
  'repair',
  'summary',
  'graph',
  'sleep',
  'what-if',
  'suite',
  'recall',
  'preview',
] as const;
export type Cause = (typeof CAUSES)[number];

/** For whom a call is made, and why. */
export interface CallFor {
  /** A shadow space's own: its calls are counted to the tenant whose space it is. */
  readonly tenant: TenantId;
  /** null: of an owner who has none, or of nobody in particular. */
  readonly lane: LaneId | null;
  readonly consolidationId: string | null;
  readonly appId: string | null;
  /** The API key that asked, or posted what is consolidated; null: the operator's, or none. */
  readonly keyId: string | null;
  readonly step: UsageStep;
  readonly cause: Cause;
}

/** Who asks, as a request says. */
export type Asker = Pick<CallFor, 'appId' | 'keyId'>;

/** A call as it is noted before it is sent, with what it is thought to use: what is never settled counts as unanswered. */
export interface SentCall extends CallFor {
  readonly id: string;
  /** As configured; of a settled call as it answered. */
  readonly model: string;
  readonly usage: TokenUse;
  /** In the currency of the tenant's prices, as they are now; null: the model has no price. */
  readonly cost: number | null;
  readonly at: Millis;
}

/** What became of it. Refused: the provider answered with an error, and has read nothing. */
export interface SettledCall extends SentCall {
  readonly outcome: 'answered' | 'refused';
  /** As it was noted; null: it was not. */
  readonly noted: Pick<SentCall, 'model' | 'usage' | 'cost'> | null;
  readonly tookMs: Millis;
}

/** What calls are told apart by. Those of HOURLY are known for 35 days and until their owner is erased, the others for ever. */
const HOURLY_GROUPS = ['hour', 'user', 'app', 'key'] as const;
const USAGE_GROUPS = ['day', 'step', 'model', 'cause', ...HOURLY_GROUPS] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** How long single calls are kept. */
export const CALLS_KEPT_MS = 35 * DAY_MS;

export interface UsageAsked {
  readonly groups: readonly UsageGroup[];
  readonly from: Millis;
  readonly to: Millis;
  readonly userId?: string;
  readonly appId?: string;
  readonly keyId?: string;
  readonly step?: UsageStep;
  readonly model?: string;
  readonly cause?: Cause;
}

/** Whether single calls alone can tell: the days that are kept for ever know no hour, owner, app or key. */
export const needsCalls = ({ groups, from, to, userId, appId, keyId }: UsageAsked): boolean =>
  groups.some((group) => HOURLY_GROUPS.some((one) => one === group)) ||
  [userId, appId, keyId].some((one) => one !== undefined) ||
  [from, to].some((time) => time % DAY_MS !== 0);

/** What calls took together. */
export interface UsageSums {
  readonly calls: number;
  readonly promptTokens: number;
  /** Of those, the ones the provider had in its cache. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
  /** Of the calls that have a price. */
  readonly cost: number;
  readonly unpriced: number;
}

export interface UsageRow {
  /** The start of the day or hour, or a name; null: there is none, or it is not known any more. */
  readonly group: Readonly<Partial<Record<UsageGroup, string | number | null>>>;
  readonly answered: UsageSums & { readonly tookMs: Millis };
  readonly refused: number;
  /** Sent, and not answered yet or never: by estimate. */
  readonly unanswered: UsageSums;
}

/** What the applied consolidations of one owner have said and used; calls that were not answered are left out. */
export interface PastUse {
  readonly consolidations: number;
  /** As batches count them. */
  readonly saidTokens: number;
  readonly messages: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cost: number;
  readonly unpriced: number;
}

/** What models were asked, call by call and added up by day. */
export interface UsageStore {
  /**
   * Counts a call as unanswered; one that was noted before is not counted again. Whether it was noted: not where one of those who are
   * named is held, or has used as much as there is room for and was not let go. Of an owner who was erased meanwhile only the day's figures
   * are kept, and a call is counted as often as it is noted.
   */
  note(call: SentCall, rooms?: readonly Room[]): Promise<boolean>;
  /** Each call once, whether it was noted or not. Of an owner who was erased meanwhile only the day's figures are kept. */
  settle(calls: readonly SettledCall[]): Promise<void>;
  /** What a tenant asked, in the order of its groups. `offset`: so many rows are left out. */
  report(
    tenant: TenantId,
    asked: UsageAsked,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<readonly UsageRow[]>;
  /** By owner, of the newest consolidations since a moment: at most `limit` of them. Those of `backfill`, or those that are live. */
  past(
    tenant: TenantId,
    of: { readonly since: Millis; readonly backfill: boolean; readonly limit: number },
  ): Promise<readonly PastUse[]>;
  /** Removes single calls of before; the figures of days stay. Returns how many. */
  drop(before: Millis, limit: number): Promise<number>;
}

/** Whose use is compared: an owner goes by the id of the lane. */
export type HoldKind = 'owner' | 'app' | 'key';

/** What somebody has asked of models in a day, by what was sent. */
export interface Use {
  readonly kind: HoldKind;
  readonly who: string;
  readonly calls: number;
  /** Of the calls that were answered. */
  readonly tokens: number;
  /** null: not today. */
  readonly hold: 'held' | 'released' | null;
}

/** How much somebody may have used on a day for a call to be noted without a closer look: less than this. */
export interface Room extends Pick<Use, 'kind' | 'who'> {
  readonly day: number;
  readonly calls: number;
  readonly tokens: number;
}

/** What is usual among those of a kind. */
export interface PeerUse {
  readonly kind: HoldKind;
  readonly calls: number;
  readonly tokens: number;
}

/** Somebody whose work waits for a day, as it was when it began. */
export interface Hold {
  readonly id: string;
  readonly tenant: TenantId;
  readonly kind: HoldKind;
  readonly who: string;
  readonly day: number;
  readonly measure: 'calls' | 'tokens';
  readonly used: number;
  readonly limit: number;
  readonly heldAt: Millis;
}

export interface KeptHold extends Hold {
  /** Of an owner; null: of another kind. */
  readonly owner: Owner | null;
  /** Somebody let go of it; null: nobody did. */
  readonly releasedAt: Millis | null;
}

/** What came of limits: how far tenants economise, and who is held. */
export interface LimitStore {
  /** Notes what is seen of a tenant's day, and tells webhooks in the same transaction. `climb` says what follows. */
  economise(tenant: TenantId, seen: Spending, now: Millis): Promise<Climbed>;
  /** Tenants that economise, or did when it was noted last. */
  economies(): Promise<readonly (Economy & { readonly tenant: TenantId })[]>;
  /** What these have used on a day. */
  uses(tenant: TenantId, whos: readonly Pick<Use, 'kind' | 'who'>[], day: number): Promise<readonly Use[]>;
  /** What was usual on the busiest of so many days before a day, with so many peers at least. */
  usual(
    tenant: TenantId,
    of: { readonly day: number; readonly days: number; readonly peers: number },
  ): Promise<readonly PeerUse[]>;
  /** What one of them has used on each of so many days before, where it was anything. */
  ownUse(
    tenant: TenantId,
    who: Pick<Use, 'kind' | 'who'>,
    of: { readonly day: number; readonly days: number },
  ): Promise<readonly Pick<Use, 'calls' | 'tokens'>[]>;
  /** Works out the medians of so many days before a day, where they are not known, and drops what is older. How many became known. */
  settleDays(day: number, days: number): Promise<number>;
  /** Once for whoever it is in a day; webhooks are told in the same transaction. */
  hold(hold: Hold): Promise<void>;
  /** Newest first. */
  holds(tenant: TenantId, page: Page): Promise<Paged<KeptHold>>;
  /** Nobody of it is held again on this day. null: the tenant has none of this id. */
  release(tenant: TenantId, id: string, now: Millis): Promise<KeptHold | null>;
  /** Who is held on a day, of all tenants. */
  heldOn(day: number): Promise<Readonly<Partial<Record<HoldKind, number>>>>;
}

/** The part of a tenant's daily limits that this ledger's cell may use. Without one it may use all of them. */
export interface HeldShare {
  /** The directory's, of this tenant and cell. 0: it was told nothing yet, and what is tenant-wide may be missing, too. */
  readonly epoch: number;
  readonly part: number;
  readonly until: Millis;
  /** The day (UTC) on which it was told, and the limits: what follows holds for these. */
  readonly day: number;
  readonly limits: string;
  /** What other cells had used. */
  readonly elsewhere: number;
  /** There is no more to be had. */
  readonly isLast: boolean;
  /** As soon as so much is used, it wants more. */
  readonly wantsAt: number;
  /** It wants more. */
  readonly wants: boolean;
}

export interface ShareStore {
  held(tenant: TenantId): Promise<HeldShare | null>;
  /** Unless something of a later epoch is held. Returns what is held then. */
  take(tenant: TenantId, share: HeldShare): Promise<HeldShare>;
  /** Notes that more than what was told at an epoch is wanted. */
  want(tenant: TenantId, epoch: number): Promise<void>;
  /** The tenants that want more. */
  wanting(limit: number): Promise<readonly TenantId[]>;
}
