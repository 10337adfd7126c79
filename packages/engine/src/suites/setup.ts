import type { EngineDeps } from '../deps.ts';
import { DECIDE, EXTRACT } from '../models/prompts/consolidation.ts';
import { forStep } from '../models/steps.ts';
import { DECIDING, type TenantSettings } from '../settings.ts';
import { canonical } from '../text/normalise.ts';

/** What of a process decides with the settings of a tenant what is remembered. */
export type Thinker = Pick<EngineDeps, 'chat' | 'chats' | 'otherChat'>;

/** The models that would be asked, by step. */
export const askedModels = (thinker: Thinker, rules: TenantSettings) => ({
  extract: forStep(thinker, 'extract', rules).chat.name,
  decide: forStep(thinker, 'decide', rules).chat.name,
});

/**
 * Names the models, prompts and settings that decide what is remembered, of this process for a tenant: equal for equal ones alone,
 * whether a model is chosen in the settings or configured for the process.
 */
export function setupOf({ tools, ...thinker }: Thinker & Pick<EngineDeps, 'tools'>, rules: TenantSettings): string {
  const { models: _, ...deciding } = Object.fromEntries(DECIDING.map((name) => [name, rules[name]]));
  const prompts = [EXTRACT, DECIDE].map(({ name, version }) => `${name} ${version}`);
  return tools.hash(canonical([deciding, askedModels(thinker, rules), prompts]));
}
