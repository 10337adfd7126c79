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
    before: z.object({ from: z.string(), to: z.string() }).describe('The 28 days before the recent ones.'),
    recent: z.object({ from: z.string(), to: z.string() }).describe('The last seven days.'),
    models: z
      .array(z.object({ model: z.string(), before: Count, recent: Count }))
      .describe('Consolidations that were read by chat model; only the newest 1,000 of each period are.'),
    figures: z.array(
      z.object({
        figure: z.string(),
        says: z.string().describe('What it is a share or mean of.'),
        kind: z.enum(['share', 'mean']),
        worse: z.enum(['lower', 'higher', 'either']).describe('In which direction it becomes worse.'),
        before: Side,
        recent: Side,
        n: z.object({ before: Count, recent: Count }).describe('How many messages, facts, … were counted.'),
        difference: z
          .object({ value: z.number(), low: z.number(), high: z.number() })
          .nullable()
          .describe('Recent less before, with an interval that is 99 % sure. null: there are too few owners to tell.'),
        verdict: z
          .enum(['fine', 'worse', 'unclear'])
          .describe('worse: by more than the margin of this figure, and not by chance.'),
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
        'How many were undone, rejected, negative or bad, of all consolidations, settled reviews, ratings and judged answers.',
      ),
  })
  .meta({ id: 'Drift' });
export type DriftView = z.infer<typeof DriftView>;
