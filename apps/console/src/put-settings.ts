import { PutSettings, SettingsView } from '@slowwave/contracts';
import { type CustomCall, promptMistake, type TenantId, type TenantSettings } from '@slowwave/engine';
import { type App, problem, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { settingsFrom, settingsView } from './views/settings.ts';

const schema = {
  tags: ['manage'],
  summary: 'Replace all settings',
  description: 'What is left out goes back to its default. Counts for what is consolidated from now on.',
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

function refuseUnusable(prompts: TenantSettings['prompts']): void {
  const calls: readonly CustomCall[] = ['extract', 'decide'];
  const errors = calls.flatMap((call) => {
    const text = prompts[call];
    const message = text === null ? null : promptMistake(call, text);
    return message === null ? [] : [{ path: `prompts.${call}`, message }];
  });
  const [first] = errors;
  if (first === undefined) return;
  throw problem('invalid_request', `the body is not valid: ${first.path}: ${first.message}`, { errors });
}
