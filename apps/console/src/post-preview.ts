import { PlanView, PostPreview } from '@slowwave/contracts';
import { draftBatch, type TenantId, withPolicy } from '@slowwave/engine';
import { type App, type Bounds, checkImages, checkTimes, isForOneApp, requestTenant, waitSignal } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { planView } from './views/plan.ts';

const schema = {
  operationId: 'previewConsolidation',
  tags: ['manage'],
  summary: 'Preview what consolidating a batch would do',
  description:
    'Runs the models and makes decisions like a consolidation. Nothing is written except the model usage. Returns ' +
    '402 if a budget is exceeded.',
  body: PostPreview,
  response: { 200: PlanView },
};

const bounds: Bounds = { by: 'body', apps: true };

export function postPreview(app: App, { ledger, tools, images, preview }: ConsoleDeps): void {
  app.post('/v1/consolidations/preview', { schema, config: { bounds } }, async (request, reply) => {
    const tenant = requestTenant(request) as TenantId;
    checkImages(request.body.messages, images);
    checkTimes(request.body, tools.now());
    const { personalData, timezone } = await ledger.settings.get(tenant);
    const ownAppOnly = isForOneApp(request);
    const batch = draftBatch(tools, { tenant, body: request.body, key: null, timezone, ownAppOnly });
    return planView(await preview(withPolicy(batch, personalData), waitSignal(reply)));
  });
}
