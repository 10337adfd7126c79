import { z } from 'zod';
import { OfTenant } from './access.ts';
import { ExternalId, listOf, Moment, PageQuery } from './common.ts';
import { FORECASTS } from './examples.ts';

/** What model calls can be grouped by. */
export const UsageGroup = z.enum(['day', 'hour', 'step', 'model', 'cause', 'user', 'app', 'key']);
/** Why models are called. */
export const UsageCause = z.enum([
  'live',
  'retry',
  'repair',
  'summary',
  'graph',
  'sleep',
  'what-if',
  'suite',
  'recall',
  'preview',
]);

const GROUPS_MAX = 200;
const NAME_MAX = 256;

export const UsageQuery = z.strictObject({
  ...OfTenant,
  group_by: z
    .string()
    .max(GROUPS_MAX)
    .transform((text) => text.split(','))
    .pipe(z.array(UsageGroup))
    .default(['day'])
    .meta({ type: 'string', examples: ['day,step'] })
    .describe(
      `A comma-separated list of ${UsageGroup.options.join(', ')}. Calls by hour, user, app and key are kept for 35 days, or until the ` +
        'user is erased.',
    ),
  from: Moment.optional().describe(
    'Default: seven days before the end. Rounded down to a UTC day, with hours to an hour.',
  ),
  to: Moment.optional().describe('Not included. Default: the end of this day. Rounded up like from.'),
  user_id: ExternalId.optional(),
  app_id: ExternalId.optional(),
  key_id: z.string().min(1).max(NAME_MAX).optional(),
  step: z.string().min(1).max(NAME_MAX).optional(),
  model: z.string().min(1).max(NAME_MAX).optional(),
  cause: UsageCause.optional(),
  format: z.enum(['json', 'csv']).default('json'),
  ...PageQuery,
});

const Sums = {
  calls: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  cost: z.number().describe('By the price list at the time of each call. Calls of models without a price add nothing.'),
  unpriced_calls: z.int().describe('Calls of models that had no price.'),
};

export const UsageRowView = z
  .object({
    day: z.string().optional().describe('UTC day, like 2026-03-01.'),
    hour: z.string().optional().describe('Start of the hour.'),
    step: z.string().optional(),
    model: z.string().optional(),
    cause: UsageCause.optional(),
    user_id: z.string().nullable().optional().describe('null: no user, or an unknown one.'),
    app_id: z.string().nullable().optional().describe('null: no app.'),
    key_id: z.string().nullable().optional().describe('null: no key of a tenant, or unknown.'),
    ...Sums,
    cached_tokens: z.int().describe('The prompt tokens that were in the provider’s cache; part of prompt_tokens.'),
    time_ms: z.int().describe('The total duration of the calls.'),
    refused_calls: z.int().describe('Calls that the provider answered with an error. They cost nothing.'),
    unanswered: z
      .object(Sums)
      .describe(
        'Estimated usage of calls that were sent but not (or not yet) answered. The provider may charge for them: its bill lies between the sum ' +
          'without and the sum with these.',
      ),
  })
  .meta({ id: 'UsageRow' });
export type UsageRowView = z.infer<typeof UsageRowView>;

export const UsageReport = z
  .object({
    from: z.string(),
    to: z.string().describe('Not included.'),
    results: z.array(UsageRowView),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'UsageReport' });
export type UsageReport = z.infer<typeof UsageReport>;

const AMOUNT_MAX = 1_000_000_000_000;
const Amount = z.int().min(0).max(AMOUNT_MAX);

/** What is to be consolidated: an import, a backfill. */
export const PostForecast = z
  .strictObject({
    ...OfTenant,
    tokens: Amount.optional().describe('Total tokens of the messages.'),
    characters: Amount.optional().describe('Total characters of the messages; used if tokens are not given.'),
    messages: Amount.optional().describe('The number of messages; used if neither tokens nor characters are given.'),
    owners: z.int().min(1).max(AMOUNT_MAX).default(1).describe('The number of users, agents or runs they belong to.'),
    live: z.boolean().default(false).describe('true: live messages, not backfill.'),
  })
  .refine(({ tokens, characters, messages }) => [tokens, characters, messages].some((one) => one !== undefined), {
    message: 'expected tokens, characters or messages',
  })
  .meta({ id: 'PostForecast', examples: FORECASTS });

const About = z.object({
  about: z.number(),
  plus_minus: z.number().describe('The actual value lies within this distance of `about` in 19 of 20 cases.'),
});

export const ForecastView = z
  .object({
    consolidations: z.int(),
    prompt_tokens: About,
    completion_tokens: About,
    tokens: About.describe('Both together.'),
    cost: About.nullable().describe('null: a model without a price was called, or there is no past usage.'),
    basis: z
      .object({ owners: z.int(), consolidations: z.int() })
      .describe(
        'The number of consolidations in the last 35 days the estimate is based on. 0: none, so it is a guess.',
      ),
  })
  .meta({ id: 'Forecast' });
export type ForecastView = z.infer<typeof ForecastView>;

export const HoldView = z
  .object({
    id: z.string(),
    state: z.enum(['held', 'released', 'over']).describe('over: the hold ended with its day (UTC).'),
    kind: z.enum(['user', 'agent', 'run', 'app', 'key']),
    of: z.string().describe('The id of the user, agent, run, app or key.'),
    measure: z.enum(['calls', 'tokens']).describe('The quantity that was too high.'),
    used: z.int().describe('The value of the day until then.'),
    limit: z.int().describe('The limit: hold_at times the usual value per day.'),
    held_at: z.string(),
    released_at: z.string().nullable(),
    ends_at: z.string().describe('When the hold ends automatically.'),
  })
  .meta({ id: 'Hold' });
export type HoldView = z.infer<typeof HoldView>;

export const HoldList = listOf(HoldView).meta({ id: 'HoldList' });
export const ListHoldsQuery = z.strictObject(PageQuery);
