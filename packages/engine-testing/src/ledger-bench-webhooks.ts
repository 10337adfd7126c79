import type { Attempted, ClaimedDelivery, NewWebhook, Webhook } from '@slowwave/engine';
import { added, home, scope } from './builders.ts';
import { ALL, ANN, type Bench, OTHER_TENANT, SECOND, TENANT, write } from './ledger-bench.ts';

export const LEASE = 60 * SECOND;

export async function create({ ledger, tools }: Bench, given: Partial<NewWebhook> = {}): Promise<NewWebhook> {
  tools.advance(SECOND);
  const events: Webhook['events'] = [
    'batch.consolidated',
    'batch.parked',
    'memory.added',
    'memory.updated',
    'memory.deleted',
  ];
  const webhook: NewWebhook = {
    ...{ id: tools.id('whk'), tenant: TENANT, name: '', url: 'https://receiver/', events },
    ...{ userId: null, appId: null, active: true, secret: 'whsec_1', createdAt: tools.now() },
    ...given,
  };
  await ledger.webhooks.create(webhook, PLENTY);
  return webhook;
}

/** A memory of ann's, written explicitly. */
export async function oneMemory(b: Bench) {
  const lane = await b.ledger.memories.laneOf(TENANT, ANN, b.tools.now());
  const change = added(b.tools, { ...home(lane), scope: scope({ userId: 'ann' }) });
  b.tools.advance(1);
  await write(b, change);
  return change;
}

const PLENTY = 100;

export const claim = (
  b: Bench,
  { limit = PLENTY, each = PLENTY, taken = {} as Record<string, number> } = {},
): Promise<readonly ClaimedDelivery[]> =>
  b.ledger.webhooks.claim({ now: b.tools.now(), until: b.tools.now() + LEASE, limit, places: { each, taken } });

export const done = (b: Bench): Attempted => ({ kind: 'delivered', status: 204, now: b.tools.now() });

export const failed = (b: Bench, { retryAt, heldUntil }: { retryAt: number | null; heldUntil: number }) =>
  ({ kind: 'failed', status: 500, error: 'away', retryAt, heldUntil, pause: false, now: b.tools.now() }) as const;

export function note(b: Bench, claimed: ClaimedDelivery | undefined, attempted: Attempted): Promise<boolean> {
  if (claimed === undefined) throw new Error('nothing was claimed');
  return b.ledger.webhooks.note(claimed.delivery, attempted);
}

export const subjectOf = ({ delivery }: ClaimedDelivery): unknown => JSON.parse(delivery.body).data.memory_id;

/** What all webhooks of both tenants were notified of, in order. */
export async function notices(b: Bench) {
  const bodies: { type: string; created_at: string; data: Record<string, unknown> }[] = [];
  for (const tenant of [TENANT, OTHER_TENANT]) {
    for (const { id } of (await b.ledger.webhooks.list(tenant, ALL)).results) {
      const { results } = await b.ledger.webhooks.deliveries(tenant, id, {}, ALL);
      bodies.push(...results.map(({ body }) => JSON.parse(body)));
    }
  }
  return bodies.sort((one, other) => one.created_at.localeCompare(other.created_at));
}
