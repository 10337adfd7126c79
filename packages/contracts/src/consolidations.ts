import { z } from 'zod';
import { ExternalId, FailureView, listOf, PageQuery, ScopeView } from './common.ts';
import { SaidMessage } from './memories.ts';

export const ConsolidationState = z.enum(['thinking', 'planned', 'waiting', 'applied', 'split', 'parked', 'undone']);
export type ConsolidationState = z.infer<typeof ConsolidationState>;

const ConsolidationSummary = ScopeView.extend({
  id: z.string(),
  state: ConsolidationState,
  batch_ids: z.array(z.string()),
  attempts: z.number().int(),
  error: FailureView.nullable(),
  created_at: z.string(),
  applied_at: z.string().nullable(),
  removed_at: z.string().nullable().describe('When retention removed its plan and model answers.'),
}).meta({ id: 'ConsolidationSummary' });

/** A plan: what was read, thought, decided and changed, and its cost. */
export const PlanView = z.json().meta({ id: 'Plan' });

export const ConsolidationView = ConsolidationSummary.extend({
  plan: z.json().nullable().describe('What was read, extracted and decided; null until a plan is stored.'),
  answers: z.array(
    z.object({
      step: z.string(),
      model: z.string(),
      output: z.string(),
      prompt_tokens: z.number(),
      completion_tokens: z.number(),
      at: z.string(),
      reused_from: z
        .string()
        .nullable()
        .describe(
          'The undone consolidation of the same batches that was asked the same question, and has paid for it.',
        ),
    }),
  ),
  messages: z
    .array(SaidMessage)
    .optional()
    .describe('Only with include=messages: those of its batches, in the order of arrival.'),
}).meta({ id: 'Consolidation' });

export const GetConsolidationQuery = z.strictObject({ include: z.enum(['messages']).optional() });

export const ConsolidationList = listOf(ConsolidationSummary).meta({ id: 'ConsolidationList' });
export const ListConsolidationsQuery = z.strictObject({
  state: ConsolidationState.optional(),
  user_id: ExternalId.optional(),
  ...PageQuery,
});
