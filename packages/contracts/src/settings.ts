import { z } from 'zod';
import { formedAs, isUnique, lookedAtFirst, SuiteName, TimeZone, TWICE } from './common.ts';
import { CEILINGS, RETENTIONS, SETTINGS } from './examples.ts';
import { StepModels } from './models.ts';
import { SleepBody, SleepView } from './nights.ts';
import { ProfileSlots, ProfileSlotView } from './users.ts';

const INSTRUCTIONS_MAX = 4_000;
/** Several times the built-in prompts: longer ones cost more per call than they help. */
const PROMPT_MAX = 20_000;
const CATEGORIES_MAX = 50;
const PRICES_MAX = 100;
/** Per million tokens; a higher price is in the wrong unit. */
const PRICE_MAX = 100_000;
const DUE_TOKENS_MAX = 1_000_000;
const DUE_EXCHANGES_MAX = 1_000;
const DUE_MS_MAX = 7 * 24 * 60 * 60 * 1_000;

const Instructions = z.string().trim().min(1).max(INSTRUCTIONS_MAX).nullable().default(null);
const PromptText = z.string().trim().min(1).max(PROMPT_MAX).nullable().default(null);

/** Stored in lower case, so that spellings do not make two categories. */
const Category = z
  .string()
  .trim()
  .toLowerCase()
  .min(1)
  .max(64)
  .check(
    formedAs(
      /^[\p{L}\p{N}][\p{L}\p{M}\p{N} _-]*$/u,
      'expected a name of letters, digits, spaces, _ and - that starts with a letter or digit',
    ),
  );

export const Categories = z.array(Category).min(1).max(CATEGORIES_MAX).refine(isUnique, TWICE);

export const ReviewedEvent = z.enum(['ADD', 'UPDATE', 'DELETE']);

const ExternalContent = z.enum(['review', 'remember', 'ignore']);

const DueMillis = z.int().min(0).max(DUE_MS_MAX).optional();
const Price = z.number().min(0).max(PRICE_MAX);
/** Of a budget. */
const SoftLimit = z.number().min(0.1).max(0.99);
/** null: no limit. */
const DayLimit = z.number().min(0).nullable().default(null);
const ModelPrice = z.strictObject({
  prompt: Price,
  cached: Price.optional().describe('For prompt tokens in the provider’s cache. Default: the price for prompt.'),
  completion: Price,
  batch: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('The price of a batch job, as a share of the regular price. Default: 0.5.'),
});

function tooManyPrices(prices: unknown): string | null {
  const { length } = Object.keys(Object(prices));
  return length > PRICES_MAX ? `expected at most ${PRICES_MAX} models, got ${length}` : null;
}

/** Up to a hundred years; null: forever. */
const Days = z.int().min(1).max(36_500).nullable().default(null);
const MEMORIES_MAX = 1_000_000;

const RetentionBody = z
  .strictObject({
    messages_days: Days.describe('How long to keep message content after consolidation.'),
    plans_days: Days.describe('How long to keep plans and raw model answers.'),
    history_days: Days.describe(
      'How long to keep former versions of memories and their events after they were replaced.',
    ),
    forgotten_days: Days.default(30).describe(
      'How long forgotten memories can be restored. After that they are erased, with everything that repeats their content.',
    ),
  })
  .meta({
    id: 'Retention',
    description:
      'How many days to keep messages, plans, former versions of memories and forgotten memories; null: forever. ' +
      'Current memories are kept.',
  });

const ForgettingBody = z
  .strictObject({
    max_age_days: Days.describe('Forget memories that have not changed for this long.'),
    unconfirmed_days: Days.describe('Forget memories that have neither changed nor been confirmed for this long.'),
    max_memories: z
      .int()
      .min(1)
      .max(MEMORIES_MAX)
      .nullable()
      .default(null)
      .describe('The maximum per user, agent or run. The least confirmed are forgotten first, then the oldest.'),
  })
  .meta({
    id: 'Forgetting',
    description:
      'Which memories are forgotten automatically; pinned ones never are. Forgetting is a deletion and can be undone.',
  });

const PersonalData = z.enum(['off', 'mask', 'drop']);

const GATE_DAYS = 14;
const GATE_DAYS_MAX = 365;

/** All settings of a tenant: omitted ones have their default. */
export const AllSettings = z.strictObject({
  instructions: Instructions.describe('What to remember, in addition to the built-in rules.'),
  includes: Instructions.describe('Remember only this.'),
  excludes: Instructions.describe('Never remember this.'),
  decide_instructions: Instructions.describe('How new facts change known memories, in addition to the built-in rules.'),
  categories: Categories.nullable().default(null).describe('Replaces the built-in categories.'),
  prompts: z
    .strictObject({
      extract: PromptText.describe('Must contain {{categories}}.'),
      decide: PromptText,
    })
    .prefault({})
    .describe('Replaces the built-in prompts. The answer format stays the same.'),
  models: StepModels.prefault({}).describe(
    'Chat models in place of the configured ones, by step. Tenants may choose among those that the operator allows.',
  ),
  review: z
    .array(ReviewedEvent)
    .max(ReviewedEvent.options.length)
    .refine(isUnique, TWICE)
    .default([])
    .describe('Operations that need approval, see /v1/reviews.'),
  external_content: ExternalContent.default('review').describe(
    'What to do with facts from external content: output of other systems, web pages, pasted emails (see ' +
      'docs/security.md). review: they need approval, see /v1/reviews. remember: they are remembered like other facts. ignore: they are ' +
      'dropped.',
  ),
  due: z
    .strictObject({
      tokens: z.int().min(1).max(DUE_TOKENS_MAX).optional(),
      exchanges: z.int().min(1).max(DUE_EXCHANGES_MAX).optional(),
      idle_ms: DueMillis,
      max_age_ms: DueMillis,
    })
    .prefault({})
    .describe('When waiting batches are consolidated; overrides the configuration of the service.'),
  prices: lookedAtFirst(tooManyPrices, z.record(z.string().min(1).max(256), ModelPrice))
    .default({})
    .describe('Price per million tokens by model, all in the same currency.'),
  budgets: z
    .strictObject({
      tokens_per_day: DayLimit,
      cost_per_day: DayLimit.describe('In the currency of the prices; models without a price count as zero.'),
      user_tokens_per_day: DayLimit.describe('Per user, agent or run.'),
      user_cost_per_day: DayLimit,
    })
    .prefault({})
    .describe('Daily limits on model use (UTC). Once reached, batches wait for the next day; nothing is dropped.'),
  economy: z
    .strictObject({
      soft_limit: SoftLimit.nullable()
        .default(0.8)
        .describe(
          'The share of a daily budget from which the service saves: larger batches first, then the models below, then ' +
            'no summaries and no graph (both wait), in equal steps up to the budget. null: no saving before the budget is used up.',
        ),
      models: StepModels.prefault({}).describe(
        'Cheaper chat models, by step. With a gate, a model is only used if it has passed the gate.',
      ),
    })
    .prefault({})
    .describe('Saving measures before a daily budget is used up, see docs/costs.md.'),
  hold_at: z
    .number()
    .min(2)
    .max(10_000)
    .nullable()
    .default(20)
    .describe(
      'A user, app or key that uses this many times the usual amount in a day is held: its batches wait for the next day, ' +
        'or until the hold is released, see /v1/holds. null: no holds.',
    ),
  retention: RetentionBody.prefault({}),
  forgetting: ForgettingBody.prefault({}),
  personal_data: PersonalData.default('off').describe(
    'Applied before anything is stored. mask replaces personal data with placeholders like “[email]”. drop does ' +
      'not store messages that contain personal data, and rejects such memories. Both mask speaker names, ' +
      'metadata and instructions. Takes effect within a second.',
  ),
  timezone: TimeZone.nullable()
    .default(null)
    .describe(
      'The default time zone of speakers, like Europe/Oslo, if neither the batch nor the timestamp has ' +
        'one; null: UTC.',
    ),
  graph: z
    .boolean()
    .default(false)
    .describe('Whether to extract relations between people, places and things by default; a batch can override it.'),
  gate: z
    .strictObject({
      suite: SuiteName,
      days: z
        .int()
        .min(1)
        .max(GATE_DAYS_MAX)
        .default(GATE_DAYS)
        .describe('The number of days a run remains valid for the gate.'),
    })
    .nullable()
    .default(null)
    .describe(
      'A suite that new prompts, instructions, categories and models have to pass: send the id of the passed run as ' +
        'gate_run. Only an operator can change or lift a gate.',
    ),
  sleep: SleepBody.prefault({}),
  profile_slots: ProfileSlots.nullable()
    .default(null)
    .describe('The slots of profiles, in this order; null: the built-in slots. See docs/profile.md.'),
});
export const PutSettings = AllSettings.meta({ id: 'PutSettings', examples: SETTINGS });
export type PutSettings = z.infer<typeof PutSettings>;

export const PutSettingsQuery = z.strictObject({
  gate_run: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe('The id of a passed run of the gate’s suite with exactly these settings.'),
  override: z
    .stringbool()
    .default(false)
    .describe('Operators only: change settings without a passed run. The audit log records it.'),
});

/** Those that decide what is remembered, to be tried out. */
export const TriedSettings = PutSettings.pick({
  instructions: true,
  includes: true,
  excludes: true,
  decide_instructions: true,
  categories: true,
  prompts: true,
  models: true,
  review: true,
  external_content: true,
  prices: true,
});
export type TriedSettings = z.infer<typeof TriedSettings>;

export const SettingsView = z
  .object({
    instructions: z.string().nullable(),
    includes: z.string().nullable(),
    excludes: z.string().nullable(),
    decide_instructions: z.string().nullable(),
    categories: z.array(z.string()).nullable(),
    prompts: z.object({ extract: z.string().nullable(), decide: z.string().nullable() }),
    models: StepModels,
    review: z.array(ReviewedEvent),
    external_content: ExternalContent,
    due: z.object({
      tokens: z.int().optional(),
      exchanges: z.int().optional(),
      idle_ms: z.int().optional(),
      max_age_ms: z.int().optional(),
    }),
    prices: z.record(
      z.string(),
      z.object({
        prompt: z.number(),
        cached: z.number().optional(),
        completion: z.number(),
        batch: z.number().optional(),
      }),
    ),
    budgets: z.object({
      tokens_per_day: z.number().nullable(),
      cost_per_day: z.number().nullable(),
      user_tokens_per_day: z.number().nullable(),
      user_cost_per_day: z.number().nullable(),
    }),
    hold_at: z.number().nullable(),
    economy: z.object({ soft_limit: z.number().nullable(), models: StepModels }),
    retention: z.object({
      messages_days: z.number().nullable(),
      plans_days: z.number().nullable(),
      history_days: z.number().nullable(),
      forgotten_days: z.number().nullable(),
    }),
    forgetting: z.object({
      max_age_days: z.number().nullable(),
      unconfirmed_days: z.number().nullable(),
      max_memories: z.number().nullable(),
    }),
    personal_data: PersonalData,
    timezone: z.string().nullable(),
    graph: z.boolean(),
    gate: z.object({ suite: z.string(), days: z.int() }).nullable(),
    sleep: SleepView,
    profile_slots: z.array(ProfileSlotView).nullable(),
  })
  .meta({ id: 'Settings' });
export type SettingsView = z.infer<typeof SettingsView>;

/** The limits that the operator sets for a tenant. */
export const PutCeilings = z
  .strictObject({
    tokens_per_day: DayLimit.describe('Chat model tokens. null: no limit.'),
    cost_per_day: DayLimit.describe(
      'In the currency of the prices of the tenant default, or of the list prices if it has none; models without a ' +
        'price count as zero.',
    ),
  })
  .meta({ id: 'PutCeilings', examples: CEILINGS });

export const CeilingsView = z
  .object({
    tenant: z.string(),
    tokens_per_day: z.number().nullable(),
    cost_per_day: z.number().nullable(),
    own: z.boolean().describe('true: set for this tenant. false: the limits for all tenants apply.'),
  })
  .meta({ id: 'Ceilings' });
export type CeilingsView = z.infer<typeof CeilingsView>;

export const PostRetentionPreview = z
  .strictObject({
    retention: RetentionBody.optional(),
    forgetting: ForgettingBody.optional(),
  })
  .meta({ id: 'PostRetentionPreview', examples: RETENTIONS });

export const RetentionPreview = z
  .object({
    batches: z.int().describe('Batches whose message content would be removed.'),
    consolidations: z.int().describe('Consolidations whose plan and model answers would be removed.'),
    histories: z.int().describe('Memories whose former versions and events would lose their text.'),
    memories: z
      .object({ age: z.int(), unconfirmed: z.int(), budget: z.int() })
      .describe('Memories that would be forgotten, by reason.'),
    forgotten: z.int().describe('Forgotten memories that would be erased and could no longer be restored.'),
  })
  .meta({ id: 'RetentionPreview' });
