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
      'off: memories are left alone. preview: every night waits for approval, see /v1/nights. auto: nights are applied, ' +
        'unless they would change more than limits.share.',
    ),
    idle_hours: z
      .number()
      .min(0)
      .max(IDLE_HOURS_MAX)
      .default(6)
      .describe('How long nothing of the user may have been posted or changed before a night begins.'),
    window: z
      .strictObject({ from: Clock, to: Clock, timezone: TimeZone })
      .nullable()
      .default(null)
      .describe('The time of day in which nights begin, for example from 22:00 to 06:00; null: any time.'),
    share_of_budget: Share.default(0.15).describe(
      'How much of budgets.tokens_per_day all nights together may use, and of what the consolidations of a user used in ' +
        '30 days the nights of that user: at least a tenth of limits.tokens.',
    ),
    acts: z
      .strictObject({
        age: z.boolean().default(true).describe('Rephrase dated plans once their date has passed. No model.'),
        merge: z.boolean().default(true).describe('Merge memories that say the same in other words.'),
        contradictions: z
          .boolean()
          .default(true)
          .describe('End memories that a later one contradicts, or open a review.'),
        fade: z
          .boolean()
          .default(true)
          .describe('Rank memories lower that nobody needed for 180 days; after 180 more, open a review. No model.'),
        patterns: z
          .boolean()
          .default(false)
          .describe('Conclude what several memories show together. Marked as inferred, and gone with its evidence.'),
        skills: z
          .boolean()
          .default(true)
          .describe('Mark procedures as skills that went well at least 3 times, by reported outcomes. No model.'),
        runs: z
          .boolean()
          .default(true)
          .describe('Remember what runs came to, in the words of the state in which they ended. No model.'),
        profile: z
          .boolean()
          .default(true)
          .describe('Find the slot of the profile that a memory belongs in, by its category or by a model.'),
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
        'Count which categories most users of an agent have memories in, and propose it for the memory of the agent: a review ' +
          'opens from 20 users on. Nothing that users said is counted or shown.',
      ),
  })
  .meta({ id: 'Sleep', description: 'What is done with memories while their user is away, see docs/sleep.md.' });

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
