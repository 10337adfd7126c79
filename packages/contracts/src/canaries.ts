import { z } from 'zod';
import { FailureView, listOf, PageQuery } from './common.ts';
import { CANARIES } from './examples.ts';
import { ChangeFields } from './replays.ts';

const STEPS_MAX = 10;
const DAY_SECONDS = 86_400;
const WAIT_MAX = 30 * DAY_SECONDS;
const CONSOLIDATIONS_MAX = 1_000_000;

const Step = z.strictObject({
  share: z.number().gt(0).max(100).describe('Percentage of the owners.'),
  min_seconds: z.int().min(0).max(WAIT_MAX).describe('The minimum time before the next step.'),
  min_consolidations: z
    .int()
    .min(0)
    .max(CONSOLIDATIONS_MAX)
    .describe('The minimum number of consolidations with the changes before the next step.'),
});

const Steps = z
  .array(Step)
  .min(1)
  .max(STEPS_MAX)
  .refine((steps) => steps.every(({ share }, i) => share > (steps[i - 1]?.share ?? 0)), 'shares must rise')
  .refine((steps) => steps.at(-1)?.share === 100, 'the last share must be 100');

const Amount = z.number().min(0).nullable();
const Budget = z.strictObject({
  calls: Amount.default(null),
  tokens: Amount.default(null),
  cost: Amount.default(null).describe('In the currency of the prices in the settings.'),
});

export const PostCanary = z
  .strictObject({
    changes: z.strictObject(ChangeFields).describe('The changes to try, in the format of a what-if.'),
    steps: Steps.optional().describe('Defaults to 1, 10, 50 and 100% over at least 44 hours.'),
    bounds: z
      .record(z.string().min(1).max(64), z.number().min(0).max(1_000))
      .default({})
      .describe(
        'By figure: how much worse it may become, as a share (0.05 is five points) or, for averages, relative to the ' +
          'others. Figures that are not listed have the default margin.',
      ),
    undo: z
      .enum(['automatic', 'manual'])
      .default('automatic')
      .describe('automatic: a halted canary is undone at once. manual: its owners wait until you undo or stop it.'),
    budget: Budget.optional().describe('The limit for consolidating again after an undo. Default: no limit.'),
  })
  .meta({ id: 'PostCanary', examples: CANARIES });
export type PostCanary = z.infer<typeof PostCanary>;

export const PostCanaryUndo = z
  .strictObject({
    dry_run: z.boolean().default(false).describe('true: only report what would be undone, and what that would use.'),
    budget: Budget.optional().describe('Overrides the budget of the canary.'),
  })
  .meta({ id: 'PostCanaryUndo', examples: [{ dry_run: true }, {}, { budget: { tokens: 2_000_000 } }] });

export const PostCanaryPromotion = z
  .strictObject({
    already_set: z
      .boolean()
      .default(false)
      .describe(
        'true: you have configured the changes that tenant settings cannot hold (mode, recall_per_fact, near).',
      ),
    gate_run: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe(
        'The id of a passed run of the gate’s suite with exactly these settings. Required if the tenant has a gate.',
      ),
  })
  .meta({ id: 'PostCanaryPromotion', examples: [{}, { already_set: true }] });

const Spent = z
  .object({
    calls: z.int(),
    tokens: z.int(),
    cost: z.number().nullable().describe('null: a model has no price.'),
  })
  .meta({ id: 'CanarySpent' });

const Interval = z
  .object({ value: z.number(), low: z.number(), high: z.number() })
  .describe(
    'The confidence interval of the difference (canary minus others). It widens with every comparison and has a level of 99.99% or more.',
  )
  .meta({ id: 'CanaryInterval' });

const Figure = z
  .object({
    figure: z.string(),
    says: z.string(),
    canary: z.number().nullable(),
    rest: z.number().nullable(),
    difference: Interval.nullable().describe('null: too few owners for a comparison.'),
    margin: z.number().describe('How much worse the figure may be.'),
    relative: z.boolean().describe('true: the margin is relative to the value of the others.'),
    verdict: z.enum(['fine', 'worse', 'unclear']),
  })
  .meta({ id: 'CanaryFigure' });

const CanaryState = z.enum(['running', 'done', 'halted', 'undoing', 'undone', 'promoted', 'stopped']);

const CanarySummary = z
  .object({
    id: z.string(),
    state: CanaryState.describe('done: it passed its last step and waits to be promoted or stopped.'),
    changes: z.json(),
    share: z.number().describe('Percentage of the owners that have the changes.'),
    step: z.int().describe('Its step, from 1.'),
    steps: z.array(Step),
    halt: FailureView.nullable().describe('Why it halted; the code names the figure.'),
    created_at: z.string(),
    finished_at: z.string().nullable(),
  })
  .meta({ id: 'CanarySummary' });
export type CanarySummary = z.infer<typeof CanarySummary>;

export const CanaryView = CanarySummary.extend({
  step_since: z.string(),
  bounds: z.record(z.string(), z.number()),
  undo: z.enum(['automatic', 'manual']),
  budget: Budget,
  owners: z.int().describe('Owners of the tenant.'),
  owners_touched: z.int().describe('Owners with at least one consolidation with the changes.'),
  consolidations: z.int().describe('Consolidations with the changes.'),
  watched: z
    .object({
      beside: z
        .enum(['others', 'before'])
        .describe(
          'others: owners without the changes in the same period. before: earlier consolidations without the changes.',
        ),
      canary: z.int().describe('Consolidations compared.'),
      rest: z.int(),
      looks: z
        .int()
        .describe('The number of comparisons so far. Each comparison needs a higher confidence than the previous one.'),
      figures: z.array(Figure),
    })
    .nullable()
    .describe('null: not looked at yet.'),
  undoing: z
    .object({
      waiting: FailureView.nullable().describe('Why it waits, for example for an exhausted budget.'),
      owners: z
        .object({
          held: z.int().describe('Their batches wait.'),
          replayed: z.int().describe('Undone; their batches are being consolidated again.'),
          done: z.int(),
          left: z.int().describe('Unchanged, because retention removed the data that an undo needs.'),
        })
        .describe('Owners by progress.'),
      consolidations: z.int().describe('Undone consolidations.'),
      batches: z.int().describe('Batches that were queued again.'),
      expected: Spent.describe('What the undone consolidations used.'),
      used: Spent.describe('What consolidating again has used so far.'),
    })
    .nullable()
    .describe('null: nothing was held or undone.'),
}).meta({ id: 'Canary' });
export type CanaryView = z.infer<typeof CanaryView>;

export const CanaryRehearsal = z
  .object({
    dry_run: z.literal(true),
    owners: z.int(),
    consolidations: z.int(),
    batches: z.int(),
    expected: Spent.describe('The estimated usage of consolidating again, based on the first time.'),
  })
  .meta({ id: 'CanaryRehearsal' });

export const CanaryList = listOf(CanarySummary).meta({ id: 'CanaryList' });
export const ListCanariesQuery = z.strictObject(PageQuery);

const Count = z.number();

export const DriftQuery = z.strictObject({
  model: z.string().min(1).max(200).optional().describe('Only consolidations of this chat model.'),
});

const Side = z
  .number()
  .nullable()
  .describe('A share, or a mean per message, fact or question. null: nothing was measured.');

/** How consolidations went lately, against before. */
export const DriftView = z
  .object({
    before: z.object({ from: z.string(), to: z.string() }).describe('The 28 days before the recent period.'),
    recent: z.object({ from: z.string(), to: z.string() }).describe('The last seven days.'),
    models: z
      .array(z.object({ model: z.string(), before: Count, recent: Count }))
      .describe('Consolidations examined, by chat model; at most the newest 1,000 of each period.'),
    figures: z.array(
      z.object({
        figure: z.string(),
        says: z.string().describe('What the figure measures.'),
        kind: z.enum(['share', 'mean']),
        worse: z.enum(['lower', 'higher', 'either']).describe('In which direction it becomes worse.'),
        before: Side,
        recent: Side,
        n: z.object({ before: Count, recent: Count }).describe('The number of messages, facts, … counted.'),
        difference: z
          .object({ value: z.number(), low: z.number(), high: z.number() })
          .nullable()
          .describe('Recent minus before, with a 99% confidence interval. null: too few owners for a comparison.'),
        verdict: z
          .enum(['fine', 'worse', 'unclear'])
          .describe('worse: worse by more than the margin of this figure, and statistically significant.'),
      }),
    ),
    opinions: z
      .array(
        z.object({
          of: z.enum(['consolidations', 'reviews', 'ratings', 'outcomes']),
          before: z.object({ against: Count, of: Count }),
          recent: z.object({ against: Count, of: Count }),
        }),
      )
      .describe(
        'How many consolidations were undone, settled reviews rejected, ratings negative and judged answers bad, of how many.',
      ),
  })
  .meta({ id: 'Drift' });
export type DriftView = z.infer<typeof DriftView>;
