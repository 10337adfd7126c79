import { PutSettings, SettingsView } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { refuseUnusable } from './refuse-prompts.ts';
import { settingsFrom, settingsView } from './views/settings.ts';

const schema = {
  operationId: 'putSettings',
  tags: ['manage'],
  summary: 'Replace all settings',
  description: 'Omitted settings are reset to their defaults. Takes effect for future consolidations.',
  body: PutSettings,
  response: { 200: SettingsView },
};

export function putSettings(app: App, { ledger }: ConsoleDeps): void {
  app.put('/v1/settings', { schema }, async (request) => {
    const settings = settingsFrom(request.body);
    refuseUnusable(settings.prompts);
    await ledger.settings.put(requestTenant(request) as TenantId, settings);
    return settingsView(settings);
  });
}
