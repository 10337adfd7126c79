import { z } from 'zod';

const State = z
  .enum(['filling', 'ready', 'switched', 'confirmed', 'abandoned'])
  .describe(
    'filling: a worker fills the new index, searches use the old one. ready: the new one has everything and was compared. ' +
      'switched: searches use the new one, the old one is kept up to date. confirmed, abandoned: the unused index is removed.',
  );

const Estimate = z.object({
  texts: z.int().describe('The approximate number of texts that the new model embeds.'),
  tokens: z.int().describe('The approximate number of their tokens.'),
});

const Recall = z.object({
  recall: z.number().describe('The share of expected memories among the first ten, 0 to 1.'),
});

export const IndexMoveView = z
  .object({
    state: State,
    from: z.string().describe('The embedder of the old index.'),
    to: z.string().describe('The embedder of the new index.'),
    started_at: z.string(),
    since: z.string().describe('When it entered this state.'),
    tokens_per_minute: z.int().nullable().describe('The limit for filling; null: no limit.'),
    margin: z.number(),
    auto: z.boolean(),
    estimate: Estimate.describe('Estimated at the start.'),
    points: z.int().describe('How many points the worker has written.'),
    behind: z
      .int()
      .describe(
        'Lanes in which one of the indexes lacks vectors because its model did not answer. The vectors are added when it answers again.',
      ),
    comparison: z
      .object({
        at: z.string(),
        questions: z.int(),
        asked: z.int().describe('The number of questions asked by users; the others are texts of memories.'),
        from: Recall,
        to: Recall,
        agreement: z
          .number()
          .describe('The share of the first ten of the old index that are among the first ten of the new one.'),
        passed: z.boolean().describe('true: the new index finds as much as the old one, within the margin.'),
      })
      .nullable()
      .describe('null: not compared yet.'),
    problem: z.string().nullable().describe('Why the last attempt failed; it is retried.'),
    cleaned: z.boolean().describe('true: the unused index was removed after a confirmation or an abandonment.'),
  })
  .meta({ id: 'IndexMove' });
export type IndexMoveView = z.infer<typeof IndexMoveView>;

export const IndexMoveAnswer = z
  .object({
    move: IndexMoveView.nullable().describe('null: there is none.'),
    estimate: Estimate.nullable().describe('Only for dry_run.'),
  })
  .meta({ id: 'IndexMoveAnswer' });
export type IndexMoveAnswer = z.infer<typeof IndexMoveAnswer>;

const MARGIN = 0.02;

export const PostIndexMove = z
  .strictObject({
    tokens_per_minute: z
      .int()
      .min(100)
      .max(1e9)
      .optional()
      .describe('The limit on the use of the new model for filling. Default: no limit.'),
    margin: z
      .number()
      .min(0)
      .max(1)
      .default(MARGIN)
      .describe('How much lower the recall of the new index may be for searches to switch to it.'),
    auto: z.boolean().default(true).describe('false: do not switch automatically, even if the comparison passes.'),
    dry_run: z.boolean().default(false).describe('true: only estimate what it takes.'),
  })
  .meta({ id: 'PostIndexMove', examples: [{ dry_run: true }, { tokens_per_minute: 100_000, auto: false }] });

export const PatchIndexMove = z
  .strictObject({
    state: z
      .enum(['switched', 'ready', 'confirmed', 'abandoned'])
      .describe(
        'switched: search the new index. ready: back to the old one. confirmed: remove the old one. abandoned: remove the new one.',
      ),
    force: z.boolean().default(false).describe('true: switch even if the comparison did not pass.'),
  })
  .meta({ id: 'PatchIndexMove', examples: [{ state: 'switched', force: true }, { state: 'confirmed' }] });
export type PatchIndexMove = z.infer<typeof PatchIndexMove>;
