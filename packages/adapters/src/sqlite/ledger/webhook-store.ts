import type { WebhookStore } from '@slowwave/engine';
import type { Access } from './access.ts';
import { getWebhook, listDeliveries, listWebhooks, webhookBacklog } from './read/webhooks.ts';

export function webhookStore({ read, write }: Access): WebhookStore {
  return {
    create: (webhook, max) => write('createWebhook', { webhook, max }),
    get: (tenant, id) => read((sql) => getWebhook(sql, tenant, id)),
    list: (tenant, page) => read((sql) => listWebhooks(sql, { tenant, page })),
    change: (...[tenant, id, changes, now]) => write('changeWebhook', { tenant, id, changes, now }),
    remove: (tenant, id) => write('removeWebhook', { tenant, id }),
    claim: (how) => write('claimDeliveries', how),
    settle: ({ id, attempts }, attempted) => write('settleDelivery', { id, attempts, attempted }),
    deliveries: (...[tenant, id, { state = null }, page]) =>
      read((sql) => listDeliveries(sql, { tenant, id, state, page })),
    replay: (...[tenant, webhook, which, now]) => write('replayDeliveries', { tenant, webhook, which, now }),
    forget: (before, limit) => write('forgetDeliveries', { before, limit }),
    backlog: () => read(webhookBacklog),
  };
}
