import {
  PostRetentionPreview,
  PutSettings,
  PutSettingsQuery,
  RetentionPreview,
  SettingsView,
  type TriedSettings,
} from '@slowwave/contracts';
import {
  type CustomCall,
  type ForgettingPolicy,
  type ProfileSlot,
  previewRetention,
  promptMistake,
  type Retention,
  type SleepSettings,
  type StepModels,
  type TenantId,
  type TenantSettings,
  whyGated,
} from '@slowwave/engine';
import { concerns, given, isOperator, principalOf, problem } from '@slowwave/http';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { type ConsoleDeps, routesOf } from './deps.ts';

const route = routesOf('manage');

/** The settings of a tenant, and what its retention would remove. */
export const settingsRoutes = [
  route('GET /v1/settings', {
    id: 'getSettings',
    summary: "Get a tenant's settings",
    answer: SettingsView,
    handle: async ({ ledger }, { tenant }) => settingsView(await ledger.settings.get(tenant)),
  }),
  route('PUT /v1/settings', {
    id: 'putSettings',
    summary: 'Replace all settings',
    description: 'Omitted settings are reset to their defaults. Takes effect for future consolidations.',
    query: PutSettingsQuery,
    body: PutSettings,
    answer: SettingsView,
    handle: async (deps, { tenant, body, query, request }) => {
      const { ledger } = deps;
      const settings = settingsFrom(body);
      refuseUnusable(settings.prompts);
      const before = await ledger.settings.get(tenant);
      const known = [before.models, before.economy.models].flatMap((models) => Object.values(models));
      const named = [...namedIn(settings.models), ...namedIn(settings.economy.models, 'economy.models')];
      const chosen = named.filter(({ model }) => !known.includes(model));
      refuseModels(deps, request, chosen);
      await passGate(deps, request, { tenant, before, now: settings, query });
      await ledger.settings.put(tenant, settings);
      return settingsView(settings);
    },
  }),
  route('POST /v1/retention/preview', {
    id: 'previewRetention',
    summary: 'Preview what retention and forgetting would remove now',
    description: 'Nothing is changed. Omitted fields are taken from the settings.',
    body: PostRetentionPreview,
    answer: RetentionPreview,
    handle: async ({ ledger, tools }, { tenant, body }) => {
      const { retention, forgetting } = body;
      const chosen = await ledger.settings.get(tenant);
      return previewRetention({ ledger, tools }, tenant, {
        retention: retention === undefined ? chosen.retention : retentionFrom(retention),
        forgetting: forgetting === undefined ? chosen.forgetting : forgettingFrom(forgetting),
      });
    },
  }),
];

interface Changing {
  readonly tenant: TenantId;
  readonly before: TenantSettings;
  readonly now: TenantSettings;
  readonly query: z.infer<typeof PutSettingsQuery>;
}

/** Throws if the tenant's gate keeps these settings out. What they passed with stands in the audit log. */
async function passGate(
  deps: ConsoleDeps,
  request: Parameters<typeof principalOf>[0],
  { tenant, before, now, query }: Changing,
): Promise<void> {
  const { gate_run: named, override } = query;
  const runId = named ?? null;
  if (override && !isOperator(principalOf(request)))
    throw problem('forbidden', 'only an operator may change settings without a passed run; remove override');
  const why = await whyGated(deps, tenant, { before, now, runId });
  if (why === null) return runId === null ? undefined : concerns(request, { kind: 'gate_run', id: runId });
  if (!override) throw problem('gate_not_passed', `the settings were not changed: ${why}`);
  concerns(request, { kind: 'gate_override', id: tenant });
}

/** Throws if custom prompts cannot be used, as mistakes in the body. */
export function refuseUnusable(prompts: TenantSettings['prompts'], path = 'prompts'): void {
  const calls: readonly CustomCall[] = ['extract', 'decide'];
  const errors = calls.flatMap((call) => {
    const text = prompts[call];
    const message = text === null ? null : promptMistake(call, text);
    return message === null ? [] : [{ path: `${path}.${call}`, message }];
  });
  const [first] = errors;
  if (first === undefined) return;
  throw problem('invalid_request', `the body is not valid: ${first.path}: ${first.message}`, { errors });
}

export const settingsView = (settings: TenantSettings): SettingsView => {
  const { tokens, exchanges, idleMs, maxAgeMs } = settings.due;
  return {
    instructions: settings.instructions,
    includes: settings.includes,
    excludes: settings.excludes,
    decide_instructions: settings.decideInstructions,
    categories: settings.categories && [...settings.categories],
    prompts: { ...settings.prompts },
    models: { ...settings.models },
    review: [...settings.review],
    external_content: settings.externalContent,
    due: {
      ...(tokens !== undefined && { tokens }),
      ...(exchanges !== undefined && { exchanges }),
      ...(idleMs !== undefined && { idle_ms: idleMs }),
      ...(maxAgeMs !== undefined && { max_age_ms: maxAgeMs }),
    },
    prices: { ...settings.prices },
    budgets: {
      tokens_per_day: settings.budgets.tokensPerDay,
      cost_per_day: settings.budgets.costPerDay,
      user_tokens_per_day: settings.budgets.userTokensPerDay,
      user_cost_per_day: settings.budgets.userCostPerDay,
    },
    hold_at: settings.holdAt,
    economy: { soft_limit: settings.economy.softLimit, models: { ...settings.economy.models } },
    retention: {
      messages_days: settings.retention.messagesDays,
      plans_days: settings.retention.plansDays,
      history_days: settings.retention.historyDays,
      forgotten_days: settings.retention.forgottenDays,
    },
    forgetting: {
      max_age_days: settings.forgetting.maxAgeDays,
      unconfirmed_days: settings.forgetting.unconfirmedDays,
      max_memories: settings.forgetting.maxMemories,
    },
    personal_data: settings.personalData,
    timezone: settings.timezone,
    graph: settings.graph,
    gate: settings.gate && { ...settings.gate },
    sleep: sleepView(settings.sleep),
    profile_slots: settings.profileSlots?.map(slotView) ?? null,
  };
};

export const settingsFrom = (body: PutSettings): TenantSettings => {
  const { tokens, exchanges, idle_ms: idleMs, max_age_ms: maxAgeMs } = body.due;
  return {
    ...triedFrom(body),
    due: {
      ...(tokens !== undefined && { tokens }),
      ...(exchanges !== undefined && { exchanges }),
      ...(idleMs !== undefined && { idleMs }),
      ...(maxAgeMs !== undefined && { maxAgeMs }),
    },
    budgets: {
      tokensPerDay: body.budgets.tokens_per_day,
      costPerDay: body.budgets.cost_per_day,
      userTokensPerDay: body.budgets.user_tokens_per_day,
      userCostPerDay: body.budgets.user_cost_per_day,
    },
    holdAt: body.hold_at,
    economy: { softLimit: body.economy.soft_limit, models: given(body.economy.models) },
    retention: retentionFrom(body.retention),
    forgetting: forgettingFrom(body.forgetting),
    personalData: body.personal_data,
    timezone: body.timezone,
    graph: body.graph,
    gate: body.gate,
    sleep: sleepFrom(body.sleep),
    profileSlots: body.profile_slots,
  };
};

const sleepView = ({
  mode,
  idleHours,
  window,
  shareOfBudget,
  acts,
  limits,
  agents,
}: SleepSettings): SettingsView['sleep'] => ({
  mode,
  idle_hours: idleHours,
  window,
  share_of_budget: shareOfBudget,
  acts: { ...acts },
  limits: { ...limits },
  agents,
});

const slotView = ({ categories, ...slot }: ProfileSlot) => ({ ...slot, categories: [...categories] });

const sleepFrom = ({ idle_hours, share_of_budget, ...sleep }: PutSettings['sleep']): SleepSettings => ({
  ...sleep,
  idleHours: idle_hours,
  shareOfBudget: share_of_budget,
});

/** Those of them that decide what is remembered. */
export const triedFrom = (body: TriedSettings) => ({
  instructions: body.instructions,
  includes: body.includes,
  excludes: body.excludes,
  decideInstructions: body.decide_instructions,
  categories: body.categories,
  prompts: body.prompts,
  models: given(body.models),
  review: body.review,
  externalContent: body.external_content,
  prices: Object.fromEntries(Object.entries(body.prices).map(([model, price]) => [model, given(price)])),
});

const retentionFrom = (body: PutSettings['retention']): Retention => ({
  messagesDays: body.messages_days,
  plansDays: body.plans_days,
  historyDays: body.history_days,
  forgottenDays: body.forgotten_days,
});

const forgettingFrom = (body: PutSettings['forgetting']): ForgettingPolicy => ({
  maxAgeDays: body.max_age_days,
  unconfirmedDays: body.unconfirmed_days,
  maxMemories: body.max_memories,
});

/** A chat model that a body names, and where. */
interface Named {
  readonly path: string;
  readonly model: string;
}

/** Models that a body names for steps. */
export const namedIn = (models: StepModels, path = 'models'): readonly Named[] =>
  Object.entries(models).map(([step, model]) => ({ path: `${path}.${step}`, model }));

/** Throws if one of them cannot be asked, or not by whoever names it. */
export function refuseModels(deps: ConsoleDeps, request: FastifyRequest, named: readonly Named[]): void {
  for (const one of named) {
    refuseUnknown(deps, one);
    if (!isOperator(principalOf(request))) refuseForbidden(deps, one);
  }
}

function refuseUnknown({ otherChat }: ConsoleDeps, { path, model }: Named): void {
  if (otherChat(model, null) !== null) return;
  throw problem(
    'invalid_request',
    `the model ${JSON.stringify(model)} cannot be used: no model server is configured; set OPENAI_BASE_URL or ` +
      'OPENAI_API_KEY',
    { errors: [{ path, message: 'expected builtin' }] },
  );
}

/** The operator pays for the models, so tenants may only use those on the operator's list. */
function refuseForbidden({ tenantModels }: ConsoleDeps, { path, model }: Named): void {
  if (tenantModels.includes(model)) return;
  const expected = `expected one of ${tenantModels.join(', ')}`;
  throw problem(
    'invalid_request',
    `the model ${JSON.stringify(model)} is not allowed for tenants: ${expected}; or ask the operator to add it to ` +
      'SLOWWAVE_TENANT_MODELS',
    { errors: [{ path, message: expected }] },
  );
}
