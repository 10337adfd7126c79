import type { EngineDeps } from '../deps.ts';
import { payerOf } from '../ids.ts';
import { cheaperOf } from '../limits/economy.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { TenantSettings } from '../settings.ts';
import { hasPassed } from '../suites/gate.ts';
import type { StepModels } from './steps.ts';

/** What is thought, and how far it economises. */
type Economising = Pick<Turn, 'tenant'> & Partial<Pick<Turn, 'rung' | 'variant'>>;

/**
 * The rules of a tenant with the cheaper models that are named, from the rung on that asks them. Each of them has to have passed the
 * tenant's gate by itself, where there is one. A canary tries its own models.
 */
export async function economised(
  deps: Pick<EngineDeps, 'ledger' | 'tools'>,
  { tenant, rung = 0, variant = null }: Economising,
  rules: TenantSettings,
): Promise<TenantSettings> {
  const cheaper = variant === null ? Object.entries(cheaperOf(rules.economy, rung)) : [];
  if (cheaper.length === 0) return rules;
  const passed: [string, string][] = [];
  for (const [step, model] of cheaper)
    if (rules.gate === null || (await hasPassed(deps, payerOf(tenant), model))) passed.push([step, model]);
  const models: StepModels = { ...rules.models, ...Object.fromEntries(passed) };
  return { ...rules, models };
}
