import { z } from 'zod';

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
