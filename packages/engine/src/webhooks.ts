import type { EngineDeps } from './deps.ts';
import { EngineError } from './errors.ts';
import type { FoldedRelation } from './graph/fold.ts';
import { type Climbed, rungName, type Spending } from './limits/economy.ts';
import { deletedAt, liveVersion } from './memories/evolve.ts';
import type { Act } from './plan.ts';
import type { CanaryNews } from './ports/ledger/canaries.ts';
import type { Batch, Turn } from './ports/ledger/lanes.ts';
import type { Application, MemoryChange } from './ports/ledger/memories.ts';
import type { Night, NightWaits } from './ports/ledger/nights.ts';
import type { Hold } from './ports/ledger/usage.ts';
import type { Attempted, ClaimedDelivery, Delivery, Notice, Webhook, WebhookEvent } from './ports/ledger/webhooks.ts';
import { isoOf } from './text/dates.ts';
import { withoutPlaces } from './views/views.ts';
import type { JsonObject, LaneId, MemoryEvent, Millis, Owner, Scope, TenantId } from './words.ts';

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

/** What is notified of changed memories: by what held before and what holds now, one notice per memory. */
export function memoryNotices(changes: readonly MemoryChange[]): Notice[] {
  return changes.flatMap((change) => {
    const [first, last] = [change.events[0], change.events.at(-1)];
    return first === undefined || last === undefined ? [] : noticeOf(change, first, last);
  });
}

function noticeOf({ memory, events }: MemoryChange, first: MemoryEvent, last: MemoryEvent): Notice[] {
  const before = first.previous;
  const after = liveVersion(memory)?.text ?? null;
  const type = typeOf(before, after);
  const isChanged = before !== after || events.some(saysMore);
  if (type === null || !isChanged) return [];
  const { actor, consolidationId, recordedAt: at } = last;
  const data = { memory_id: memory.id, revision: memory.revision, before, after, actor };
  const happened = { ...data, consolidation_id: consolidationId, ...idsOf(memory.scope) };
  return [notice({ eventId: last.id, type, subject: memory.id, at, data: happened }, memory)];
}

/** What a night notes of a memory that reads as before, such as its place in the profile, is told with the night. */
const saysMore = ({ kind, actor }: MemoryEvent): boolean =>
  kind !== 'NONE' && kind !== 'FEEDBACK' && !(kind === 'UPDATE' && actor === 'sleep');

/** null: neither held before nor holds now. */
function typeOf(before: string | null, after: string | null): WebhookEvent | null {
  if (before === null) return after === null ? null : 'memory.added';
  return after === null ? 'memory.deleted' : 'memory.updated';
}

/** Whether what held of a memory before no longer does. */
export function isRetracting({ memory, events }: MemoryChange): boolean {
  const before = events[0]?.previous ?? null;
  return before !== null && before !== (liveVersion(memory)?.text ?? null);
}

/** So many receipts are named in one notice. */
const RECEIPTS_NAMED = 100;

/** Names the receipts, newest first, whose answers told a version that does not hold with this change; none: nobody was told. */
export function retractionNotice(
  { memory, events }: MemoryChange,
  told: readonly { readonly receipt: string; readonly version: number }[],
): Notice[] {
  const last = events.at(-1);
  const live = liveVersion(memory);
  const ids = [...new Set(told.filter(({ version }) => version !== live?.number).map(({ receipt }) => receipt))];
  if (last === undefined || ids.length === 0) return [];
  const ended = deletedAt(memory) === null ? 'undone' : 'deleted';
  const data = {
    memory_id: memory.id,
    revision: memory.revision,
    why: live === null ? ended : 'corrected',
    receipt_ids: ids.slice(0, RECEIPTS_NAMED),
    more: ids.length > RECEIPTS_NAMED,
    ...idsOf(memory.scope),
  };
  // The event itself has a notice of its own.
  const eventId = `${last.id}_retracted`;
  return [notice({ eventId, type: 'memory.retracted', subject: memory.id, at: last.recordedAt, data }, memory)];
}

type Lost = Pick<FoldedRelation, 'id' | 'revision' | 'counts' | 'updatedAt'>;

/** The same of a relation that has ended, or that nothing says any more. Only its owner hears of it: no app has it to itself. */
export function relationNotice(
  { id, revision, counts, updatedAt: at }: Lost,
  { lane, owner }: { readonly lane: LaneId; readonly owner: Owner },
  receipts: readonly string[],
): Notice[] {
  const ids = [...new Set(receipts)];
  if (ids.length === 0) return [];
  const of = (kind: Owner['kind']): string | null => (owner.kind === kind ? owner.id : null);
  const scope = { userId: of('user'), agentId: of('agent'), runId: of('run'), appId: null };
  const why = counts ? 'ended' : 'removed';
  const named = { receipt_ids: ids.slice(0, RECEIPTS_NAMED), more: ids.length > RECEIPTS_NAMED };
  const data = { relation_id: id, revision, why, ...named, ...idsOf(scope) };
  const eventId = `evt_${id}_${revision}_retracted`;
  return [notice({ eventId, type: 'relation.retracted', subject: id, at, data }, { lane, scope })];
}

/** A batch that has just ended: searchable, or parked. */
export function batchNotice(batch: Batch, at: Millis): Notice {
  const { id, state, consolidationId, failure, attempts } = batch;
  const type = state === 'parked' ? 'batch.parked' : 'batch.consolidated';
  const error =
    state === 'parked' && failure !== null ? { code: failure.code, message: withoutPlaces(failure.message) } : null;
  const data = { batch_id: id, state, attempts, error, consolidation_id: consolidationId, ...idsOf(batch.scope) };
  // A parked batch may be replayed and parked again.
  return notice({ eventId: `evt_${id}_${state}_${at}`, type, subject: id, at, data }, batch);
}

/** Messages of a consolidation that was just applied address the model. */
export function attackNotice(turn: Turn, { attacks, now: at }: Pick<Application, 'attacks' | 'now'>): Notice {
  const { consolidationId, lane, scope } = turn;
  const seen = attacks.map(({ messageId, kinds }) => ({ message_id: messageId, kinds: [...kinds] }));
  const data = { consolidation_id: consolidationId, attacks: seen, ...idsOf(scope) };
  const eventId = `evt_${consolidationId}_attacks`;
  return notice({ eventId, type: 'attack.detected', subject: consolidationId, at, data }, { lane, scope });
}

/** A canary has come to its next step or its end: of no user, and of no app. */
export function canaryNotice(id: string, { type, at, data }: CanaryNews): Notice {
  const body = JSON.stringify({ event_id: `evt_${id}_${type}_${at}`, type, created_at: isoOf(at), data });
  return { eventId: `evt_${id}_${type}_${at}`, type, subject: id, lane: null, userId: null, appId: null, at, body };
}

/** A tenant economises more than before on this day, or no longer: of no user, and of no app. */
export function economyNotice(tenant: TenantId, { economy }: Climbed, { day, share, at }: Told): Notice {
  const rung = economy?.rung ?? 0;
  const type = 'budget.rung';
  const eventId = `evt_budget_${tenant}_${day}_${rung}_${at}`;
  const data = { rung, saves: rungName(rung), share_used: Math.round(share * 1_000) / 1_000 };
  const body = JSON.stringify({ event_id: eventId, type, created_at: isoOf(at), data });
  return { eventId, type, subject: tenant, lane: null, userId: null, appId: null, at, body };
}

type Told = Pick<Spending, 'day' | 'share'> & { readonly at: Millis };

/** Somebody is held who used far more than is usual. An app and a key are of no single user. */
export function holdNotice(hold: Hold, owner: Owner | null): Notice {
  const { id, kind, who, measure, used, limit, heldAt: at } = hold;
  const type = 'use.held';
  const eventId = `evt_${id}`;
  const userId = owner?.kind === 'user' ? owner.id : null;
  const whose = owner === null ? { kind, id: who } : { kind: owner.kind, id: owner.id };
  const data = { hold_id: id, ...whose, measure, used, limit };
  const body = JSON.stringify({ event_id: eventId, type, created_at: isoOf(at), data });
  const lane = kind === 'owner' ? (who as LaneId) : null;
  return { eventId, type, subject: id, lane, userId, appId: kind === 'app' ? who : null, at, body };
}

type Happened = Pick<Notice, 'eventId' | 'type' | 'subject' | 'at'> & { readonly data: JsonObject };

function notice({ data, ...happened }: Happened, { lane, scope }: Pick<Batch, 'lane' | 'scope'>): Notice {
  const { eventId, type, at } = happened;
  const body = JSON.stringify({ event_id: eventId, type, created_at: isoOf(at), data });
  return { ...happened, lane, userId: scope.userId, appId: scope.appId, body };
}

const idsOf = ({ userId, agentId, runId, appId }: Scope): JsonObject => ({
  user_id: userId,
  agent_id: agentId,
  run_id: runId,
  app_id: appId,
});

/** Whether a webhook is to be notified. */
export const isWanted = (webhook: Pick<Webhook, 'events' | 'userId' | 'appId'>, happened: Notice): boolean =>
  webhook.events.includes(happened.type) &&
  (webhook.userId === null || webhook.userId === happened.userId) &&
  (webhook.appId === null || webhook.appId === happened.appId);

/** One per webhook and event, always the same. */
export const deliveryIdOf = (webhookId: string, eventId: string): string => `dlv_${webhookId}_${eventId}`;

/** What somebody reads in a minute; the whole night is at GET /v1/nights/{id}. */
const ACTS_NAMED = 50;

interface NightNews {
  readonly acts: readonly Act[];
  /** How many memories it changes. */
  readonly memories: number;
  /** null: it is applied. */
  readonly why: NightWaits | null;
  readonly at: Millis;
}

/** What a night did, or would do if somebody applied it. It knows no apps: a webhook of one app is not told. */
export function nightNotice(
  { consolidationId: id, lane, scope }: Pick<Night, 'consolidationId' | 'lane' | 'scope'>,
  { acts, memories, why, at }: NightNews,
): Notice {
  const type = why === null ? 'night.applied' : 'night.waits';
  const eventId = `evt_${id}_${why === null ? 'applied' : 'waits'}`;
  const named = acts.slice(0, ACTS_NAMED);
  const left = acts.length - named.length;
  const data = {
    night_id: id,
    ...(why !== null && { why }),
    memories,
    acts: named.map(toldAct),
    acts_left_out: left,
    text: [...named.map(lineOf), ...(left > 0 ? [`… and ${left} more`] : [])].join('\n'),
    ...{ user_id: scope.userId, agent_id: scope.agentId, run_id: scope.runId, app_id: null },
  };
  const body = JSON.stringify({ event_id: eventId, type, created_at: isoOf(at), data });
  return { eventId, type, subject: id, lane, userId: scope.userId, appId: null, at, body };
}

/** An act as everybody is told of it. */
export const toldAct = ({ act, memoryId, before, after, reason, asks, certainty, slot }: Act) => ({
  act,
  memory_id: memoryId,
  before,
  after,
  ...(certainty !== undefined && { certainty }),
  ...(slot !== undefined && { slot }),
  reason,
  asks,
});

/** One act as a line. */
function lineOf({ act, before, after, asks, slot }: Act): string {
  if (slot !== undefined) return `${act}: “${before ?? ''}” under ${slot}`;
  if (asks) return `${act}: asks about “${before ?? ''}”`;
  if (before === null) return `${act}: new “${after ?? ''}”`;
  if (after === null) return `${act}: no longer “${before}”`;
  return before === after ? `${act}: “${before}”` : `${act}: “${before}” → “${after}”`;
}
