import { z } from 'zod';
import { formedAs, TimeZone } from './common.ts';

const SleepMode = z.enum(['off', 'preview', 'auto']);
/** A share of a whole. */
const Share = z.number().min(0).max(1);
const Clock = z.string().check(formedAs(/^(?:[01]\d|2[0-3]):[0-5]\d$/u, 'expected a time of day like 22:30'));
const CALLS_MAX = 1_000;
const SLEEP_TOKENS_MAX = 10_000_000;
const OPERATIONS_MAX = 500;
/** 30 days. */
const IDLE_HOURS_MAX = 720;

export const SleepBody = z
  .strictObject({
    mode: SleepMode.default('off').describe(
      'off: there are no nights. preview: every night waits for approval, see /v1/nights. auto: nights are applied, ' +
        'unless they would change more than limits.share.',
    ),
    idle_hours: z
      .number()
      .min(0)
      .max(IDLE_HOURS_MAX)
      .default(6)
      .describe('How long the user must have been inactive (no posts, no changes) before a night begins.'),
    window: z
      .strictObject({ from: Clock, to: Clock, timezone: TimeZone })
      .nullable()
      .default(null)
      .describe('The time of day in which nights begin, for example from 22:00 to 06:00; null: any time.'),
    share_of_budget: Share.default(0.15).describe(
      'The share of budgets.tokens_per_day that all nights together may use, and the share of a user’s consolidation tokens in ' +
        '30 days that the nights of that user may use: at least a tenth of limits.tokens.',
    ),
    acts: z
      .strictObject({
        age: z.boolean().default(true).describe('Rephrase dated plans once their date has passed. No model.'),
        merge: z.boolean().default(true).describe('Merge memories that say the same in different words.'),
        contradictions: z
          .boolean()
          .default(true)
          .describe('End memories that a later one contradicts, or open a review.'),
        fade: z
          .boolean()
          .default(true)
          .describe(
            'Rank memories lower that were not needed for 180 days; after 180 more days, open a review. No model.',
          ),
        patterns: z
          .boolean()
          .default(false)
          .describe(
            'Draw conclusions from several memories. They are marked as inferred and removed with their evidence.',
          ),
        skills: z
          .boolean()
          .default(true)
          .describe(
            'Mark procedures as skills if they went well at least 3 times according to reported outcomes. No model.',
          ),
        runs: z
          .boolean()
          .default(true)
          .describe('Remember the results of runs, in the words of their final state. No model.'),
        profile: z
          .boolean()
          .default(true)
          .describe('Find the profile slot of a memory, by its category or with a model.'),
      })
      .prefault({}),
    limits: z
      .strictObject({
        calls: z.int().min(0).max(CALLS_MAX).default(20),
        tokens: z.int().min(0).max(SLEEP_TOKENS_MAX).default(50_000),
        operations: z.int().min(1).max(OPERATIONS_MAX).default(50),
        share: Share.default(0.3).describe(
          'Nights that would change a larger share of the memories wait for approval; 5 memories are always allowed.',
        ),
      })
      .prefault({})
      .describe('Per user and night.'),
    agents: z
      .boolean()
      .default(false)
      .describe(
        'Count in which categories most users of an agent have memories, and propose the result as a memory of the agent: a review ' +
          'opens from 20 users on. What users said is neither counted nor shown.',
      ),
  })
  .meta({ id: 'Sleep', description: 'Housekeeping of memories while their user is away, see docs/sleep.md.' });

export const SleepView = z.object({
  mode: SleepMode,
  idle_hours: z.number(),
  window: z.object({ from: z.string(), to: z.string(), timezone: z.string() }).nullable(),
  share_of_budget: z.number(),
  acts: z.object({
    age: z.boolean(),
    merge: z.boolean(),
    contradictions: z.boolean(),
    fade: z.boolean(),
    patterns: z.boolean(),
    skills: z.boolean(),
    runs: z.boolean(),
    profile: z.boolean(),
  }),
  limits: z.object({
    calls: z.number().int(),
    tokens: z.number().int(),
    operations: z.number().int(),
    share: z.number(),
  }),
  agents: z.boolean(),
});
