import { PostRetentionPreview, RetentionPreview } from '@slowwave/contracts';
import { previewRetention, type TenantId } from '@slowwave/engine';
import { type App, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { forgettingFrom, retentionFrom } from './views/settings.ts';

const schema = {
  operationId: 'previewRetention',
  tags: ['manage'],
  summary: 'Preview what retention and forgetting would remove now',
  description: 'Nothing is changed. Omitted fields are taken from the settings.',
  body: PostRetentionPreview,
  response: { 200: RetentionPreview },
};

export function postRetentionPreview(app: App, { ledger, tools }: ConsoleDeps): void {
  app.post('/v1/retention/preview', { schema }, async (request) => {
    const tenant = requestTenant(request) as TenantId;
    const { retention, forgetting } = request.body;
    const chosen = await ledger.settings.get(tenant);
    return previewRetention({ ledger, tools }, tenant, {
      retention: retention === undefined ? chosen.retention : retentionFrom(retention),
      forgetting: forgetting === undefined ? chosen.forgetting : forgettingFrom(forgetting),
    });
  });
}
