import type { LaneId, Millis, TenantId } from '../../words.ts';
import type { Page, Paged } from './ledger.ts';

const WEBHOOK_EVENTS = [
  'batch.consolidated',
  'batch.parked',
  'memory.added',
  'memory.updated',
  'memory.deleted',
  'attack.detected',
  'memory.retracted',
  'relation.retracted',
  'canary.step',
  'canary.halted',
  'canary.undone',
  'canary.promoted',
  'budget.rung',
  'use.held',
  'night.applied',
  'night.waits',
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Somebody who wants to be notified of what happens to the batches and memories of a tenant. */
export interface Webhook {
  readonly id: string;
  readonly tenant: TenantId;
  readonly name: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** The one user, and the one app, it is notified of; null: all of the tenant. */
  readonly userId: string | null;
  readonly appId: string | null;
  /** While it is not, nothing new is noted for it and nothing is sent. */
  readonly active: boolean;
  readonly secret: string;
  /** The secret before the last change, with which is signed as well for a while. */
  readonly previous: { readonly secret: string; readonly until: Millis } | null;
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
  /** Deliveries that failed since one succeeded, and since when. */
  readonly failures: number;
  readonly failingSince: Millis | null;
  readonly lastError: string | null;
  /** When it was paused because it had failed for long; null: it was not. */
  readonly pausedAt: Millis | null;
}

export type NewWebhook = Omit<
  Webhook,
  'previous' | 'updatedAt' | 'failures' | 'failingSince' | 'lastError' | 'pausedAt'
>;

export type WebhookChanges = Partial<
  Pick<Webhook, 'name' | 'url' | 'events' | 'userId' | 'appId' | 'active' | 'secret' | 'previous'>
>;

/**
 * A delivery's life, one per webhook and event:
 *   waiting    from the transaction that makes the change that it is about. Every claim counts an attempt and keeps others off
 *              until its lease ends; a failed attempt lets it wait until `dueAt`.
 *   delivered  the receiver has answered with 2xx.
 *   failed     it was tried for about a day, or cannot be sent at all. A replay lets it wait again.
 */
export type DeliveryState = 'waiting' | 'delivered' | 'failed';

export interface Delivery {
  readonly id: string;
  readonly webhookId: string;
  /** The same for all webhooks that are notified of the event, and for every attempt. */
  readonly eventId: string;
  readonly type: WebhookEvent;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** Those since it was made or replayed. */
  readonly tries: number;
  readonly dueAt: Millis;
  readonly createdAt: Millis;
  readonly endedAt: Millis | null;
  /** Of the last attempt that was answered. */
  readonly status: number | null;
  readonly error: string | null;
  /** JSON, as it is sent. */
  readonly body: string;
}

/** What a webhook is notified of, before anybody is known who wants to hear it. */
export interface Notice {
  readonly eventId: string;
  readonly type: WebhookEvent;
  /** The batch or memory; notices about one of them are sent in order. */
  readonly subject: string;
  /** null: it is about no single owner. */
  readonly lane: LaneId | null;
  readonly userId: string | null;
  readonly appId: string | null;
  readonly at: Millis;
  /** JSON, as it is sent. */
  readonly body: string;
}

export interface ClaimedDelivery {
  readonly delivery: Delivery;
  readonly webhook: Webhook;
}

export type Attempted =
  | { readonly kind: 'delivered'; readonly status: number; readonly now: Millis }
  | {
      readonly kind: 'failed';
      readonly status: number | null;
      readonly error: string;
      /** null: no further attempt. */
      readonly retryAt: Millis | null;
      /** Until then the webhook is sent nothing. */
      readonly heldUntil: Millis;
      /** It has failed for so long that it is paused. */
      readonly pause: boolean;
      readonly now: Millis;
    };

interface WebhookBacklog {
  readonly waiting: number;
  readonly failed: number;
  /** When the oldest that waits was made. */
  readonly oldest: Millis | null;
}

/** Deliveries are written by the transactions that change batches and memories, for the webhooks active then. */
export interface WebhookStore {
  /** false: the tenant has `max` of them already. */
  create(webhook: NewWebhook, max: number): Promise<boolean>;
  get(tenant: TenantId, id: string): Promise<Webhook | null>;
  list(tenant: TenantId, page: Page): Promise<Paged<Webhook>>;
  /** Becoming active again forgets its failures. null: the tenant has none of this id. */
  change(tenant: TenantId, id: string, changes: WebhookChanges, now: Millis): Promise<Webhook | null>;
  /** With its deliveries. false: the tenant has none of this id. */
  remove(tenant: TenantId, id: string): Promise<boolean>;
  /**
   * Deliveries that are due, the first of each subject alone; the webhook that has waited longest comes first. Nobody
   * else gets them before `until`. A webhook that failed last is tried with one at a time.
   */
  claim(how: {
    readonly now: Millis;
    readonly until: Millis;
    readonly limit: number;
    /** A webhook has so many places, of which some may be taken: by its id. */
    readonly places: { readonly each: number; readonly taken: Readonly<Record<string, number>> };
  }): Promise<readonly ClaimedDelivery[]>;
  /** What came of an attempt. false: the lease ended and it was claimed again; nothing was noted. */
  note(delivery: Pick<Delivery, 'id' | 'attempts'>, attempted: Attempted): Promise<boolean>;
  /** Newest first. */
  deliveries(
    tenant: TenantId,
    webhookId: string,
    filter: { readonly state?: DeliveryState },
    page: Page,
  ): Promise<Paged<Delivery>>;
  /** Ended ones wait again: the one of this id, or all that failed. Returns how many. */
  replay(tenant: TenantId, webhookId: string, which: { readonly id: string } | 'failed', now: Millis): Promise<number>;
  /** Some deliveries made before a moment go. Returns how many. */
  forget(before: Millis, limit: number): Promise<number>;
  backlog(): Promise<WebhookBacklog>;
}
