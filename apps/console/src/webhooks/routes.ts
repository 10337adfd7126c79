import type { App } from '@slowwave/http';
import type { ConsoleDeps } from '../deps.ts';
import { listDeliveries, replayDelivery, replayFailed } from './deliveries.ts';
import { deleteWebhook, getWebhook, listWebhooks } from './known.ts';
import { patchWebhook } from './patch.ts';
import { postWebhook } from './post.ts';

/** Who is told of what happens to batches and memories. */
export function webhookRoutes(app: App, deps: ConsoleDeps): void {
  postWebhook(app, deps);
  listWebhooks(app, deps);
  getWebhook(app, deps);
  patchWebhook(app, deps);
  deleteWebhook(app, deps);
  listDeliveries(app, deps);
  replayFailed(app, deps);
  replayDelivery(app, deps);
}
