import {
  type Attempted,
  type Delivery,
  deliveryIdOf,
  isWanted,
  type LaneId,
  type Notice,
  type TenantId,
  type Webhook,
  type WebhookStore,
} from '@slowwave/engine';
import { pageOf } from './memory-ledger-page.ts';
import { change as assign, type DeliveryRow, type State, type WebhookRow } from './memory-ledger-state.ts';

export function memoryWebhooks(state: State): WebhookStore {
  const find = (tenant: TenantId, id: string): WebhookRow | null => {
    const row = state.webhooks.get(id);
    return row?.tenant === tenant ? row : null;
  };
  const of = (tenant: TenantId, id: string) =>
    [...state.deliveries.values()].filter((row) => row.webhookId === id && find(tenant, id) !== null);
  return {
    create: async (webhook, max) => {
      const known = [...state.webhooks.values()].filter(({ tenant }) => tenant === webhook.tenant);
      if (known.length >= max) return false;
      state.webhooks.set(webhook.id, { ...webhook, ...FRESH, updatedAt: webhook.createdAt });
      return true;
    },
    get: async (tenant, id) => webhookOf(find(tenant, id)),
    list: async (tenant, page) => {
      const rows = [...state.webhooks.values()].filter((row) => row.tenant === tenant);
      const { results, nextCursor } = pageOf(rows, ({ createdAt, id }) => ({ order: createdAt, id }), page);
      return { results: results.map(shown), nextCursor };
    },
    change: async (...[tenant, id, changes, now]) => {
      const row = find(tenant, id);
      if (row === null) return null;
      const { previous: _, ...fresh } = FRESH;
      assign(row, { ...changes, ...(changes.active === true ? fresh : {}), updatedAt: now });
      return shown(row);
    },
    remove: async (tenant, id) => {
      for (const row of of(tenant, id)) state.deliveries.delete(row.id);
      return find(tenant, id) !== null && state.webhooks.delete(id);
    },
    claim: async (how) => claim(state, how),
    note: async ({ id, attempts }, attempted) => note(state, { id, attempts }, attempted),
    deliveries: async (...[tenant, id, filter, page]) => {
      const rows = of(tenant, id).filter((row) => filter.state === undefined || row.state === filter.state);
      const { results, nextCursor } = pageOf(rows, (row) => ({ order: row.createdAt, id: row.id }), page);
      return { results: results.map(deliveryOf), nextCursor };
    },
    replay: async (...[tenant, id, which, now]) => {
      const isMeant = (row: DeliveryRow) => (which === 'failed' ? row.state === 'failed' : row.id === which.id);
      const rows = of(tenant, id).filter((row) => row.state !== 'waiting' && isMeant(row));
      for (const row of rows) assign(row, { state: 'waiting', before: row.attempts, dueAt: now, endedAt: null });
      return rows.length;
    },
    forget: async (before, limit) => {
      const old = [...state.deliveries.values()].filter((row) => row.createdAt < before).slice(0, limit);
      for (const row of old) state.deliveries.delete(row.id);
      return old.length;
    },
    backlog: async () => {
      const rows = [...state.deliveries.values()];
      const waiting = rows.filter((row) => row.state === 'waiting');
      const oldest = waiting.length === 0 ? null : Math.min(...waiting.map((row) => row.createdAt));
      return { waiting: waiting.length, failed: rows.filter((row) => row.state === 'failed').length, oldest };
    },
  };
}

const FRESH = {
  previous: null,
  failures: 0,
  failingSince: null,
  lastError: null,
  pausedAt: null,
  heldUntil: 0,
} as const;

/** Notes what the tenant's active webhooks are to be notified of. */
export function notifyWebhooks(state: State, tenant: TenantId, notices: readonly Notice[]): void {
  const active = [...state.webhooks.values()].filter((row) => row.tenant === tenant && row.active);
  for (const notice of notices) {
    for (const webhook of active.filter((row) => isWanted(row, notice))) {
      const id = deliveryIdOf(webhook.id, notice.eventId);
      if (state.deliveries.has(id)) continue;
      const { eventId, type, subject, lane, body, at } = notice;
      const fresh = { state: 'waiting', attempts: 0, before: 0, endedAt: null, status: null, error: null } as const;
      const row = { id, webhookId: webhook.id, eventId, type, subject, lane, body, dueAt: at, createdAt: at };
      state.deliveries.set(id, { ...row, ...fresh });
    }
  }
}

/** The user is erased: a webhook for this user alone goes, with what it was to hear. */
export function forgetInWebhooks(state: State, tenant: TenantId, userId: string): void {
  for (const { id } of [...state.webhooks.values()].filter((row) => row.tenant === tenant && row.userId === userId)) {
    state.webhooks.delete(id);
    for (const row of state.deliveries.values()) if (row.webhookId === id) state.deliveries.delete(row.id);
  }
}

export function takeDeliveries(state: State, lane: LaneId, limit: number): number {
  const rows = [...state.deliveries.values()].filter((row) => row.lane === lane).slice(0, limit);
  for (const row of rows) state.deliveries.delete(row.id);
  return rows.length;
}

function claim(state: State, { now, until, limit, places }: Parameters<WebhookStore['claim']>[0]) {
  const waiting = [...state.deliveries.values()].filter((row) => row.state === 'waiting');
  const isFirst = (row: DeliveryRow) =>
    waiting.find((other) => other.webhookId === row.webhookId && other.subject === row.subject) === row;
  const due = waiting.filter((row) => row.dueAt <= now && isFirst(row)).sort((a, b) => a.dueAt - b.dueAt);
  const claimed: { delivery: Delivery; webhook: Webhook }[] = [];
  for (const id of new Set(due.map(({ webhookId }) => webhookId))) {
    const webhook = state.webhooks.get(id);
    if (webhook === undefined || !webhook.active || webhook.heldUntil > now) continue;
    const free = Math.max(0, Math.min(places.each - (places.taken[id] ?? 0), limit - claimed.length));
    const own = due.filter((row) => row.webhookId === id).slice(0, webhook.failures > 0 ? Math.min(1, free) : free);
    if (webhook.failures > 0 && own.length > 0) webhook.heldUntil = until;
    for (const row of own) {
      assign(row, { attempts: row.attempts + 1, dueAt: until });
      claimed.push({ delivery: deliveryOf(row), webhook: shown(webhook) });
    }
  }
  return claimed;
}

function note(state: State, { id, attempts }: { id: string; attempts: number }, attempted: Attempted): boolean {
  const row = state.deliveries.get(id);
  const webhook = row && state.webhooks.get(row.webhookId);
  if (row?.attempts !== attempts || row.state !== 'waiting' || webhook === undefined) return false;
  const { status, now } = attempted;
  if (attempted.kind === 'delivered') {
    assign(row, { state: 'delivered', status, error: null, endedAt: now });
    assign(webhook, { failures: 0, failingSince: null, lastError: null, heldUntil: 0 });
    return true;
  }
  const { error, retryAt, heldUntil, pause } = attempted;
  const next = retryAt === null ? ({ state: 'failed', endedAt: now } as const) : { dueAt: retryAt };
  assign(row, { status, error, ...next });
  const failing = { failures: webhook.failures + 1, failingSince: webhook.failingSince ?? now, lastError: error };
  assign(webhook, { ...failing, heldUntil, ...(pause ? { active: false, pausedAt: now } : {}) });
  return true;
}

const webhookOf = (row: WebhookRow | null): Webhook | null => row && shown(row);

const shown = ({ heldUntil: _, ...webhook }: WebhookRow): Webhook => webhook;

const deliveryOf = ({ subject: _, lane: __, before, ...row }: DeliveryRow): Delivery => ({
  ...row,
  tries: row.attempts - before,
});
