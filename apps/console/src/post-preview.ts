import { PlanView, PostPreview } from '@slowwave/contracts';
import { draftBatch, type TenantId, withPolicy } from '@slowwave/engine';
import { type App, type Bounds, checkImages, checkTimes, isForOneApp, requestTenant, waitSignal } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { planView } from './views/plan.ts';

const schema = {
  operationId: 'previewConsolidation',
  tags: ['manage'],
  summary: 'What a batch would do if it were consolidated now',
  description:
    'Asks the models and decides as a consolidation does. Nothing is written but what the models have used; above a budget it is ' +
    'refused with 402.',
  body: PostPreview,
  response: { 200: PlanView },
};

const bounds: Bounds = { by: 'body', apps: true };

/**
 * Of one tenant, in a process. What a preview uses is known when its models have answered: many that begin together would all
 * find the same room in a budget.
 */
const AT_ONCE = 4;

export function postPreview(app: App, { ledger, tools, images, preview }: ConsoleDeps): void {
  const inLine = fewAtOnce(AT_ONCE);
  app.post('/v1/consolidations/preview', { schema, config: { bounds } }, async (request, reply) => {
    const tenant = requestTenant(request) as TenantId;
    checkImages(request.body.messages, images);
    checkTimes(request.body, tools.now());
    const { personalData, timezone } = await ledger.settings.get(tenant);
    const ownAppOnly = isForOneApp(request);
    const batch = draftBatch(tools, { tenant, body: request.body, key: null, timezone, ownAppOnly });
    const cancel = waitSignal(reply);
    return planView(await inLine(tenant, () => preview(withPolicy(batch, personalData), cancel)));
  });
}

/** Works for so many of each name at once; the others wait in line. */
function fewAtOnce(most: number) {
  const places = new Map<string, { taken: number; readonly waiting: (() => void)[] }>();
  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const place = places.get(name) ?? { taken: 0, waiting: [] };
    places.set(name, place);
    if (place.taken < most) place.taken += 1;
    else await new Promise<void>((resolve) => place.waiting.push(resolve)); // whoever leaves hands over the place
    try {
      return await work();
    } finally {
      const next = place.waiting.shift();
      if (next !== undefined) next();
      else {
        place.taken -= 1;
        if (place.taken === 0) places.delete(name);
      }
    }
  };
}
