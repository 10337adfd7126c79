import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../errors.ts';
import type { Attempted, ClaimedDelivery, Delivery, Webhook } from '../ports/ledger/webhooks.ts';
import type { Millis } from '../words.ts';

/** What is sent to a receiver. */
export interface WebhookPost {
  readonly url: string;
  readonly deliveryId: string;
  readonly body: string;
  /** Signed with each of them. */
  readonly secrets: readonly string[];
  readonly at: Millis;
}

/** Posts to receivers. An answer of any status is an answer; none is an EngineError. */
export interface WebhookSender {
  post(post: WebhookPost): Promise<{ readonly status: number }>;
}

/** Twice as long as an attempt may take; who holds it then is taken for dead. */
const LEASE_MS = 20_000;

/** Under way at a time for one webhook in one worker: a slow receiver leaves places to the others. */
const PLACES_OF_WEBHOOK = 4;

/** Claims what is due, at most so many; `taken` says how many are under way for which webhook. */
export const claimDeliveries = (
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
  limit: number,
  taken: Readonly<Record<string, number>> = {},
): Promise<readonly ClaimedDelivery[]> =>
  ledger.webhooks.claim({
    now: tools.now(),
    until: tools.now() + LEASE_MS,
    limit,
    places: { each: PLACES_OF_WEBHOOK, taken },
  });

/** Sends one that was claimed, and notes what came of it. */
export async function deliver(
  { ledger, tools, log, sender }: Pick<EngineDeps, 'ledger' | 'tools' | 'log'> & { readonly sender: WebhookSender },
  { delivery, webhook }: ClaimedDelivery,
): Promise<Attempted> {
  const at = tools.now();
  const attempted = await attempt(sender, postOf({ delivery, webhook }, at)).then(
    (status) => judged(status, { delivery, webhook, now: tools.now(), hash: tools.hash }),
    (error: unknown) => failed(error, { delivery, webhook, now: tools.now(), hash: tools.hash }),
  );
  const noted = await ledger.webhooks.note(delivery, attempted);
  const { id: webhookId } = webhook;
  if (!noted) log.warn({ webhookId, deliveryId: delivery.id }, 'a delivery took longer than its lease');
  if (attempted.kind === 'failed' && attempted.pause) {
    log.warn({ webhookId, error: attempted.error }, 'a webhook has failed for days and is paused');
  }
  return attempted;
}

const attempt = async (sender: WebhookSender, post: WebhookPost): Promise<number> => (await sender.post(post)).status;

function postOf({ delivery, webhook }: ClaimedDelivery, at: Millis): WebhookPost {
  const { secret, previous, url } = webhook;
  const secrets = previous !== null && previous.until > at ? [secret, previous.secret] : [secret];
  return { url, deliveryId: delivery.id, body: delivery.body, secrets, at };
}

interface Tried {
  readonly delivery: Delivery;
  readonly webhook: Webhook;
  readonly now: Millis;
  readonly hash: (text: string) => string;
}

/** A redirect is not followed, and is no success. */
function judged(status: number, tried: Tried): Attempted {
  if (status >= 200 && status < 300) return { kind: 'delivered', status, now: tried.now };
  return failure(tried, { status, error: `expected a 2xx response, got ${status}`, isFinal: false });
}

const failed = (error: unknown, tried: Tried): Attempted =>
  failure(tried, {
    status: null,
    error: (error instanceof Error ? error.message : String(error)).slice(0, ERROR_CHARACTERS_MAX),
    isFinal: error instanceof EngineError && !error.retryable,
  });

const ERROR_CHARACTERS_MAX = 500;

function failure(
  { delivery, webhook, now, hash }: Tried,
  { status, error, isFinal }: { status: number | null; error: string; isFinal: boolean },
): Attempted {
  const pause = PAUSES_MS[delivery.tries - 1];
  const retryAt =
    isFinal || pause === undefined ? null : now + jittered(pause, hash(`${delivery.id}/${delivery.attempts}`));
  const heldUntil = now + Math.min(HOLD_MAX_MS, HOLD_MS * 2 ** Math.min(webhook.failures, HOLD_DOUBLINGS));
  const isLong = webhook.failingSince !== null && now - webhook.failingSince >= PAUSE_AFTER_MS;
  return { kind: 'failed', status, error, retryAt, heldUntil, pause: isLong, now };
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** After the first, second, … failed attempt; about 24 hours together. */
const PAUSES_MS: readonly number[] = [
  5_000,
  30_000,
  2 * MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  6 * HOUR_MS,
  10 * HOUR_MS,
];

/** A receiver that fails is left alone a little, whatever else is due for it, so that it holds nobody up. */
const HOLD_MS = 1_000;
const HOLD_MAX_MS = MINUTE_MS;
const HOLD_DOUBLINGS = 6;

/** Nobody looks after a receiver that has taken nothing for three days. */
const PAUSE_AFTER_MS = 72 * HOUR_MS;

/** Up to a fifth longer, by chance: receivers that come back are not met by all at once. */
function jittered(pause: number, hash: string): number {
  const chance = Number.parseInt(hash.slice(0, 4), 16) / 0x10000;
  return pause + Math.floor((pause / 5) * chance);
}
