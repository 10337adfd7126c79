import { z } from 'zod';
import { lookedAtFirst, TimeZone } from './common.ts';
import { CEILINGS, SETTINGS } from './examples.ts';

const INSTRUCTIONS_MAX = 4_000;
/** Several times the product's own prompts: longer ones cost more with every call than they can help. */
const PROMPT_MAX = 20_000;
const CATEGORIES_MAX = 50;
const PRICES_MAX = 100;
/** Per million tokens; above it somebody has mistaken the unit. */
const PRICE_MAX = 100_000;
const DUE_TOKENS_MAX = 1_000_000;
const DUE_MS_MAX = 7 * 24 * 60 * 60 * 1_000;

const Instructions = z.string().trim().min(1).max(INSTRUCTIONS_MAX).nullable().default(null);
const PromptText = z.string().trim().min(1).max(PROMPT_MAX).nullable().default(null);

/** Kept in lower case, so that the same category is never two. */
const Category = z
  .string()
  .trim()
  .toLowerCase()
  .min(1)
  .max(64)
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{M}\p{N} _-]*$/u,
    'expected a name of letters, digits, spaces, _ and -, that begins with a letter or digit',
  );

const isUnique = (items: readonly string[]): boolean => new Set(items).size === items.length;
const TWICE = { message: 'expected each only once' };

export const ReviewedEvent = z.enum(['ADD', 'UPDATE', 'DELETE']);

const DueMillis = z.int().min(0).max(DUE_MS_MAX).optional();
const Price = z.number().min(0).max(PRICE_MAX);
/** null: no limit. */
const DayLimit = z.number().min(0).nullable().default(null);
const ModelPrice = z.strictObject({ prompt: Price, completion: Price });

function tooManyPrices(prices: unknown): string | null {
  const { length } = Object.keys(Object(prices));
  return length > PRICES_MAX ? `expected at most ${PRICES_MAX} models, got ${length}` : null;
}

/** A hundred years; null: for ever. */
const Days = z.int().min(1).max(36_500).nullable().default(null);
const MEMORIES_MAX = 1_000_000;

export const RetentionBody = z
  .strictObject({
    messages_days: Days.describe('The content of messages, once they are consolidated.'),
    plans_days: Days.describe('Plans, and the raw answers of models.'),
    history_days: Days.describe(
      'Former versions of memories and the events that tell of them, since they stopped holding.',
    ),
  })
  .meta({
    id: 'Retention',
    description: 'How long what was said and thought is kept, and what memories said before. What holds stays.',
  });

export const ForgettingBody = z
  .strictObject({
    max_age_days: Days.describe('Memories that were not changed for so long.'),
    unconfirmed_days: Days.describe('Memories that were neither changed nor said again for so long.'),
    max_memories: z
      .int()
      .min(1)
      .max(MEMORIES_MAX)
      .nullable()
      .default(null)
      .describe('Of each user, agent or run; the least confirmed go first, of those the oldest.'),
  })
  .meta({
    id: 'Forgetting',
    description:
      'Which memories are forgotten by themselves; pinned ones never. It is a deletion, and can be taken back.',
  });

const PersonalData = z.enum(['off', 'mask', 'drop']);

/** The whole of a tenant's settings: what is left out is as by default. */
export const PutSettings = z
  .strictObject({
    instructions: Instructions.describe('What to remember, beside the product’s own rules.'),
    includes: Instructions.describe('Remember only this.'),
    excludes: Instructions.describe('Never remember this.'),
    decide_instructions: Instructions.describe('How new facts change known memories, beside the product’s own rules.'),
    categories: z
      .array(Category)
      .min(1)
      .max(CATEGORIES_MAX)
      .refine(isUnique, TWICE)
      .nullable()
      .default(null)
      .describe('Own categories in place of the product’s.'),
    prompts: z
      .strictObject({
        extract: PromptText.describe('Must contain {{categories}}.'),
        decide: PromptText,
      })
      .prefault({})
      .describe('Whole prompts in place of the product’s. The form of the answer stays the product’s.'),
    review: z
      .array(ReviewedEvent)
      .max(ReviewedEvent.options.length)
      .refine(isUnique, TWICE)
      .default([])
      .describe('Operations of these kinds wait for a person, see /v1/reviews.'),
    due: z
      .strictObject({
        tokens: z.int().min(1).max(DUE_TOKENS_MAX).optional(),
        idle_ms: DueMillis,
        max_age_ms: DueMillis,
      })
      .prefault({})
      .describe('When waiting batches are consolidated, where it differs from the service’s configuration.'),
    prices: lookedAtFirst(tooManyPrices, z.record(z.string().min(1).max(256), ModelPrice))
      .default({})
      .describe('Price per million tokens by model, in any one currency: what plans cost.'),
    budgets: z
      .strictObject({
        tokens_per_day: DayLimit,
        cost_per_day: DayLimit.describe('In the currency of the prices; models without a price add nothing.'),
        user_tokens_per_day: DayLimit.describe('For each user, agent or run alone.'),
        user_cost_per_day: DayLimit,
      })
      .prefault({})
      .describe('What models may use per day (UTC). Above it batches wait for the next day; nothing is dropped.'),
    retention: RetentionBody.prefault({}),
    forgetting: ForgettingBody.prefault({}),
    personal_data: PersonalData.default('off').describe(
      'Before anything is stored: mask puts “[email]” and the like in the place of personal data, drop stores nothing of a ' +
        'message that holds any, and refuses such a memory. Names of speakers, metadata and instructions are masked under ' +
        'both. Counts within a second.',
    ),
    timezone: TimeZone.nullable()
      .default(null)
      .describe('Of speakers whose batches and timestamps do not say it, like Europe/Oslo; null: UTC.'),
    graph: z
      .boolean()
      .default(false)
      .describe('Relations between people, places and things are kept of all batches that do not say otherwise.'),
  })
  .meta({ id: 'PutSettings', examples: SETTINGS });
export type PutSettings = z.infer<typeof PutSettings>;

export const SettingsView = z
  .object({
    instructions: z.string().nullable(),
    includes: z.string().nullable(),
    excludes: z.string().nullable(),
    decide_instructions: z.string().nullable(),
    categories: z.array(z.string()).nullable(),
    prompts: z.object({ extract: z.string().nullable(), decide: z.string().nullable() }),
    review: z.array(ReviewedEvent),
    due: z.object({
      tokens: z.number().int().optional(),
      idle_ms: z.number().int().optional(),
      max_age_ms: z.number().int().optional(),
    }),
    prices: z.record(z.string(), z.object({ prompt: z.number(), completion: z.number() })),
    budgets: z.object({
      tokens_per_day: z.number().nullable(),
      cost_per_day: z.number().nullable(),
      user_tokens_per_day: z.number().nullable(),
      user_cost_per_day: z.number().nullable(),
    }),
    retention: z.object({
      messages_days: z.number().nullable(),
      plans_days: z.number().nullable(),
      history_days: z.number().nullable(),
    }),
    forgetting: z.object({
      max_age_days: z.number().nullable(),
      unconfirmed_days: z.number().nullable(),
      max_memories: z.number().nullable(),
    }),
    personal_data: PersonalData,
    timezone: z.string().nullable(),
    graph: z.boolean(),
  })
  .meta({ id: 'Settings' });
export type SettingsView = z.infer<typeof SettingsView>;

/** What the operator allows a tenant. */
export const PutCeilings = z
  .strictObject({
    tokens_per_day: DayLimit.describe('Tokens of chat models. null: no limit.'),
    cost_per_day: DayLimit.describe(
      'In the currency of the prices of the tenant default, else of the list prices; models without a price add nothing.',
    ),
  })
  .meta({ id: 'PutCeilings', examples: CEILINGS });

export const CeilingsView = z
  .object({
    tenant: z.string(),
    tokens_per_day: z.number().nullable(),
    cost_per_day: z.number().nullable(),
    own: z.boolean().describe('Set for this tenant; false: what holds for all.'),
  })
  .meta({ id: 'Ceilings' });
export type CeilingsView = z.infer<typeof CeilingsView>;
