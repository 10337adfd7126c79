import type { PutSettings, SettingsView } from '@slowwave/contracts';
import type { ForgettingPolicy, Retention, TenantSettings } from '@slowwave/engine';

export const settingsView = (settings: TenantSettings): SettingsView => {
  const { tokens, idleMs, maxAgeMs } = settings.due;
  return {
    instructions: settings.instructions,
    includes: settings.includes,
    excludes: settings.excludes,
    decide_instructions: settings.decideInstructions,
    categories: settings.categories && [...settings.categories],
    prompts: { ...settings.prompts },
    review: [...settings.review],
    due: {
      ...(tokens !== undefined && { tokens }),
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
    retention: {
      messages_days: settings.retention.messagesDays,
      plans_days: settings.retention.plansDays,
      history_days: settings.retention.historyDays,
    },
    forgetting: {
      max_age_days: settings.forgetting.maxAgeDays,
      unconfirmed_days: settings.forgetting.unconfirmedDays,
      max_memories: settings.forgetting.maxMemories,
    },
    personal_data: settings.personalData,
    timezone: settings.timezone,
    graph: settings.graph,
  };
};

export const settingsFrom = (body: PutSettings): TenantSettings => {
  const { tokens, idle_ms: idleMs, max_age_ms: maxAgeMs } = body.due;
  return {
    instructions: body.instructions,
    includes: body.includes,
    excludes: body.excludes,
    decideInstructions: body.decide_instructions,
    categories: body.categories,
    prompts: body.prompts,
    review: body.review,
    due: {
      ...(tokens !== undefined && { tokens }),
      ...(idleMs !== undefined && { idleMs }),
      ...(maxAgeMs !== undefined && { maxAgeMs }),
    },
    prices: body.prices,
    budgets: {
      tokensPerDay: body.budgets.tokens_per_day,
      costPerDay: body.budgets.cost_per_day,
      userTokensPerDay: body.budgets.user_tokens_per_day,
      userCostPerDay: body.budgets.user_cost_per_day,
    },
    retention: retentionFrom(body.retention),
    forgetting: forgettingFrom(body.forgetting),
    personalData: body.personal_data,
    timezone: body.timezone,
    graph: body.graph,
  };
};

export const retentionFrom = (body: PutSettings['retention']): Retention => ({
  messagesDays: body.messages_days,
  plansDays: body.plans_days,
  historyDays: body.history_days,
});

export const forgettingFrom = (body: PutSettings['forgetting']): ForgettingPolicy => ({
  maxAgeDays: body.max_age_days,
  unconfirmedDays: body.unconfirmed_days,
  maxMemories: body.max_memories,
});
