import { z } from 'zod';

const Count = z.int();

const BatchStates = {
  pending: Count,
  consolidating: Count,
  consolidated: Count,
  empty: Count,
  parked: Count,
  undone: Count,
};

export const OverviewQuery = z.strictObject({
  period: z.enum(['day', 'week']).default('day').describe('How far back to look.'),
});

const Used = z.object({ used: z.number(), limit: z.number().nullable().describe('null: no limit.') });

/** How a tenant is doing, and what waits for somebody. */
export const OverviewView = z
  .object({
    at: z.string(),
    batches: z
      .object({ pending: Count, consolidating: Count, parked: Count })
      .describe('Unfinished batches of any age. At most 50,000 are counted per state.'),
    oldest_due_at: z.string().nullable().describe('When the oldest due work became due. null: none is due.'),
    reviews_waiting: Count.describe('At most 50,000 are counted.'),
    parked: z
      .array(z.object({ code: z.string(), batches: Count }))
      .describe('Parked batches by error code. Only the newest 1,000 are counted.'),
    history: z
      .object({
        since: z
          .string()
          .describe(
            'Start of the first hour that is listed: of the period, or later if a state has more than 50,000 batches.',
          ),
        hours: z.array(z.object({ at: z.string(), ...BatchStates })),
      })
      .describe('Batches by the hour in which they were accepted and by their present state.'),
    freshness: z
      .object({ batches: Count, p50_ms: z.number().nullable(), p95_ms: z.number().nullable() })
      .describe(
        'How long batches took from being accepted to being searchable: the newest 1,000 consolidated ones of the ' +
          'period, without backfill. null: there were none.',
      ),
    answers: z
      .object({ since: z.string(), search: Count, context: Count, recall: Count })
      .describe('Answers with a receipt. since: start of the period, or later if there are more than 1,000 receipts.'),
    usage: z
      .array(
        z.object({
          day: z.string().describe('UTC day, like 2026-03-01.'),
          step: z.string().describe('What the model was called for.'),
          model: z.string(),
          calls: Count,
          failed_calls: Count,
          prompt_tokens: Count,
          completion_tokens: Count,
          cost: z.number().describe('Models without a price count as zero.'),
        }),
      )
      .describe('Model use of the last seven days (UTC) by day, step and model, including what-if replays.'),
    today: z
      .object({ tokens: Used, cost: Used })
      .describe('Model use of this UTC day and its limit: the lower of the budget and the limit set by the operator.'),
    economy: z
      .object({
        rung: z.int().min(0).max(4),
        saves: z.enum(['nothing', 'larger_batches', 'cheaper_models', 'no_summary_no_graph', 'waiting']),
        since: z.string().nullable(),
      })
      .describe(
        'The saving measures in force because the daily budget is running out, see docs/costs.md. Each level includes the ones below it.',
      ),
  })
  .meta({ id: 'Overview' });
export type OverviewView = z.infer<typeof OverviewView>;

/** accepted = the sum of all the other counts, always. */
export const StatsView = z
  .object({
    batches: z.object({
      accepted: z.int(),
      pending: z.int(),
      consolidating: z.int(),
      consolidated: z.int(),
      empty: z.int(),
      parked: z.int(),
      undone: z.int(),
      erased: z.int(),
      gap: z.int(),
    }),
    memories: z.object({ live: z.int(), versions: z.int() }),
    owners: z.int(),
    outbox: z.int(),
    usage: z.object({
      calls: z.int(),
      failed_calls: z.int(),
      prompt_tokens: z.int(),
      completion_tokens: z.int(),
    }),
  })
  .meta({ id: 'Stats' });

export const LiveView = z
  .object({ status: z.literal('ok'), runs_on: z.record(z.string(), z.string()) })
  .meta({ id: 'Live' });
export const ReadyView = z
  .object({
    status: z.enum(['ok', 'unavailable']),
    checks: z.record(z.string(), z.object({ ok: z.boolean(), message: z.string().optional() })),
    warnings: z
      .array(z.string())
      .optional()
      .describe('What does not work although requests are served: models whose last call failed.'),
  })
  .meta({ id: 'Ready' });

export const GetDoctorQuery = z.strictObject({
  depth: z
    .enum(['quick', 'usual'])
    .default('usual')
    .describe(
      'quick: only figures that are already known. usual: also counts, and checks samples of stored data. To check ' +
        'everything, run `slowwave doctor --full` on a machine with access to the stores.',
    ),
});

export const ExaminationView = z
  .object({
    at: z.string(),
    depth: z.enum(['quick', 'usual', 'full']),
    healthy: z.boolean().describe('true: all checks passed, possibly with warnings.'),
    checks: z.array(z.object({ check: z.string(), looked: z.int(), findings: z.int() })),
    last_backup: z
      .object({ at: z.string(), bytes: z.number() })
      .nullable()
      .describe('The last backup by `slowwave backup`. null: none is known.'),
    findings: z.array(
      z.object({
        check: z.string(),
        severity: z.enum(['error', 'warning']),
        what: z.string(),
        count: z.int(),
        examples: z.array(z.string()),
        remedy: z.string(),
      }),
    ),
  })
  .meta({ id: 'Examination' });
export type ExaminationView = z.infer<typeof ExaminationView>;
