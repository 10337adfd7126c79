import type { WebhookStore } from '@slowwave/engine';
import type { Access } from './access.ts';
import { getWebhook, listDeliveries, listWebhooks, webhookBacklog } from './read/webhooks.ts';
import {
  changeWebhook,
  claimDeliveries,
  createWebhook,
  forgetDeliveries,
  removeWebhook,
  replayDeliveries,
  settleDelivery,
} from './write/webhooks.ts';

export function webhookStore({ read, write }: Access): WebhookStore {
  return {
    create: (webhook, max) => write((sql) => createWebhook(sql, { webhook, max })),
    get: (tenant, id) => read((sql) => getWebhook(sql, tenant, id)),
    list: (tenant, page) => read((sql) => listWebhooks(sql, { tenant, page })),
    change: (...[tenant, id, changes, now]) => write((sql) => changeWebhook(sql, { tenant, id, changes, now })),
    remove: (tenant, id) => write((sql) => removeWebhook(sql, { tenant, id })),
    claim: (how) => write((sql) => claimDeliveries(sql, how)),
    settle: ({ id, attempts }, attempted) => write((sql) => settleDelivery(sql, { id, attempts, attempted })),
    deliveries: (...[tenant, id, { state = null }, page]) =>
      read((sql) => listDeliveries(sql, { tenant, id, state, page })),
    replay: (...[tenant, webhook, which, now]) =>
      write((sql) => replayDeliveries(sql, { tenant, webhook, which, now })),
    forget: (before, limit) => write((sql) => forgetDeliveries(sql, { before, limit })),
    backlog: () => read(webhookBacklog),
  };
}
