import { z } from 'zod';
import { listOf, ScopeView } from './common.ts';
import { OUTCOMES } from './examples.ts';
import { RelationCore } from './graph.ts';
import { MemoryView, SaidMessage } from './memories.ts';

/** In answers of search, context and recall. */
/** For people who look at what is remembered: nothing was told to a model. */
export const Receipted = z
  .boolean()
  .optional()
  .describe(
    'false: keep no receipt of this answer, and do not remember its content for the conversation. Needs a key with the scope manage or subject.',
  );

export const ReceiptId = z
  .string()
  .nullable()
  .describe(
    'The receipt of this answer, see /v1/receipts/{id}; readable a moment after the answer. null: no receipt is kept, ' +
      'because receipts are off, the owner is unknown, or there were too many answers at once.',
  );

const Outcome = z.enum(['good', 'bad']).nullable();

export const PostOutcome = z
  .strictObject({
    outcome: Outcome.describe('The outcome of the answer. Replaces an earlier outcome; null removes it.'),
  })
  .meta({ id: 'PostOutcome', examples: OUTCOMES });

const ToldMemory = MemoryView.pick({ id: true, memory: true, version: true, valid_from: true, invalid_at: true })
  .extend({
    kind: z.literal('memory'),
    current: z.boolean().describe('true: this is the current version.'),
  })
  .meta({ id: 'ToldMemory' });

const ToldMessage = SaidMessage.omit({ utc_offset: true })
  .extend({ kind: z.literal('message') })
  .meta({ id: 'ToldMessage' });

const ToldRelation = RelationCore.omit({ memory_ids: true })
  .extend({
    kind: z.literal('relation'),
    current: z.boolean().describe('true: it holds now.'),
  })
  .meta({ id: 'ToldRelation' });

const Forgotten = z
  .object({ id: z.string(), forgotten: z.literal(true) })
  .describe('It has been deleted, undone or removed since.')
  .meta({ id: 'ForgottenSince' });

const Receipt = ScopeView.extend({
  id: z.string(),
  route: z.enum(['search', 'context', 'recall']),
  created_at: z.string(),
  question: z
    .string()
    .nullable()
    .describe(
      'The beginning of the question, without secrets and personal data. null: there was no question, or something in the ' +
        'answer was deleted or undone since.',
    ),
  filters: z
    .record(z.string(), z.json())
    .nullable()
    .describe('null: none, too long to store, or removed with the question.'),
  as_of: z.string().nullable().describe('null: the answer was about the present.'),
  position: z.int().describe('The number of messages accepted from the owner before the answer.'),
  outcome: Outcome.describe('null: no outcome was reported.'),
});

export const ReceiptView = Receipt.extend({
  told: z
    .array(z.union([ToldMemory, ToldRelation, ToldMessage, Forgotten]))
    .describe('Memories in the version used, relations and messages, in the order of the answer.'),
}).meta({ id: 'Receipt' });
export type ReceiptView = z.infer<typeof ReceiptView>;

const ToldTo = Receipt.extend({
  versions: z.array(z.int()).describe('The versions of the memory in the answer.'),
}).meta({ id: 'ToldTo' });

export const MemoryReceipts = listOf(ToldTo)
  .extend({
    credit: z
      .number()
      .describe('-1 to 1: the balance of reported outcomes for the current version; 0 if there are none.'),
  })
  .meta({ id: 'MemoryReceipts' });
