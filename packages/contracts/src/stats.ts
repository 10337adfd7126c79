import { z } from 'zod';

/** accepted = the sum of all the other counts, always. */
export const StatsView = z
  .object({
    batches: z.object({
      accepted: z.number().int(),
      pending: z.number().int(),
      consolidating: z.number().int(),
      consolidated: z.number().int(),
      empty: z.number().int(),
      parked: z.number().int(),
      undone: z.number().int(),
      erased: z.number().int(),
      gap: z.number().int(),
    }),
    memories: z.object({ live: z.number().int(), versions: z.number().int() }),
    owners: z.number().int(),
    outbox: z.number().int(),
    usage: z.object({
      calls: z.number().int(),
      failed_calls: z.number().int(),
      prompt_tokens: z.number().int(),
      completion_tokens: z.number().int(),
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
