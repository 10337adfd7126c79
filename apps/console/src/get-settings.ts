import { SettingsView } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { settingsView } from './views/settings.ts';

const schema = {
  operationId: 'getSettings',
  tags: ['manage'],
  summary: "Get a tenant's settings",
  response: { 200: SettingsView },
};

export function getSettings(app: App, { ledger }: ConsoleDeps): void {
  app.get('/v1/settings', { schema }, async (request) =>
    settingsView(await ledger.settings.get(requestTenant(request) as TenantId)),
  );
}
