import { z } from 'zod';
import { ExternalId, formedAs, listOf, PageQuery, ScopeView, Share, TimeZone } from './common.ts';

const NightState = z.enum(['thinking', 'waiting', 'applied', 'undone', 'discarded', 'stale', 'failed']);

/** A memory that an act rests on. */
const EvidenceView = z.object({ memory_id: z.string(), memory: z.string() }).meta({ id: 'Evidence' });

const ActView = z
  .object({
    act: z.enum(['age', 'merge', 'contradictions', 'fade', 'patterns', 'skills', 'runs', 'profile']),
    memory_id: z.string(),
    before: z.string().nullable().describe('null: the memory is new; for skills: it replaces no other skill.'),
    after: z.string().nullable().describe('null: the memory ends; for skills: it is no longer a skill.'),
    slot: z.string().optional().describe('Only for profile: the slot the memory is put in.'),
    certainty: z.enum(['low', 'medium', 'high']).optional().describe('Only for patterns.'),
    evidence: z.array(EvidenceView),
    reason: z.string(),
    decided_by: z.enum(['model', 'rule']),
    asks: z.boolean().describe('true: a review is opened instead of a change.'),
  })
  .meta({ id: 'Act' });
export type ActView = z.infer<typeof ActView>;

const NightSummary = ScopeView.pick({ user_id: true, agent_id: true, run_id: true }).extend({
  id: z.string().describe('Also the id of its consolidation, which can be undone and redone.'),
  state: NightState,
  why: z
    .enum(['preview', 'share'])
    .nullable()
    .describe(
      'Why it waits or waited. preview: the settings require approval. share: it would change too many memories.',
    ),
  acts: z.int(),
  memories: z.int().describe('How many memories it changes.'),
  failure: z.object({ code: z.string(), message: z.string(), at: z.string() }).nullable(),
  created_at: z.string(),
  ended_at: z.string().nullable(),
});

export const NightList = listOf(NightSummary.meta({ id: 'NightSummary' })).meta({ id: 'NightList' });

export const NightView = NightSummary.extend({
  plan: z
    .object({
      acts: z.array(ActView),
      refused: z
        .array(z.object({ asked: z.string(), why: z.string() }))
        .describe('Proposals of the model that were refused, and why.'),
      calls: z.int(),
      tokens: z.int(),
    })
    .nullable()
    .describe('null: not created yet, or removed by retention.'),
}).meta({ id: 'Night' });
export type NightView = z.infer<typeof NightView>;
export type NightSummary = z.infer<typeof NightSummary>;

export const ListNightsQuery = z.strictObject({
  state: z.enum(['thinking', 'waiting', 'applied', 'discarded', 'stale', 'failed']).optional(),
  user_id: ExternalId.optional(),
  ...PageQuery,
});

export const PostNight = z
  .strictObject({ decision: z.enum(['apply', 'discard']) })
  .meta({ id: 'PostNight', examples: [{ decision: 'apply' }, { decision: 'discard' }] });

const SleepMode = z.enum(['off', 'preview', 'auto']);
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
    calls: z.int(),
    tokens: z.int(),
    operations: z.int(),
    share: z.number(),
  }),
  agents: z.boolean(),
});
