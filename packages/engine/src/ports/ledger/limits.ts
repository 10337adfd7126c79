import type { Climbed, Economy, Spending } from '../../limits/economy.ts';
import type { Millis, Owner, TenantId } from '../../words.ts';
import type { Page, Paged } from './page.ts';

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
