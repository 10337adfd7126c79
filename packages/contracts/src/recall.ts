import { z } from 'zod';
import { hasOwnerId, Moment, OWNER_ID_MISSING, ScopeFields, UsageView, whole } from './common.ts';
import { QUESTIONS } from './examples.ts';
import { Filters } from './filters.ts';
import { MemoryView, SourceView } from './memories.ts';
import { Receipted, ReceiptId } from './receipts.ts';

const QUERY_MAX = 4_000;
const TOP_K_MAX = 50;
const TOP_K_DEFAULT = 10;
/** Each step is a model call that somebody waits for. */
const STEPS_MAX = 5;
const STEPS_DEFAULT = 3;
/** Less is not enough for one step. */
const TOKENS_MIN = 2_000;
const TOKENS_MAX = 100_000;
const TOKENS_DEFAULT = 16_000;
const TIMEOUT_MIN_MS = 100;
const TIMEOUT_MAX_MS = 60_000;
const TIMEOUT_DEFAULT_MS = 30_000;

export const PostRecall = z
  .strictObject({
    query: z.string().max(QUERY_MAX).describe('The question.'),
    ...ScopeFields,
    filters: Filters.optional(),
    as_of: Moment.optional().describe('Answer from what was true at this time.'),
    top_k: whole(1, TOP_K_MAX).default(TOP_K_DEFAULT).describe('How many memories and messages each search returns.'),
    max_steps: z.int().min(1).max(STEPS_MAX).default(STEPS_DEFAULT).describe('The maximum number of model calls.'),
    max_tokens: whole(TOKENS_MIN, TOKENS_MAX)
      .default(TOKENS_DEFAULT)
      .describe('The approximate token budget of all these calls together.'),
    receipt: Receipted,
    timeout_ms: whole(TIMEOUT_MIN_MS, TIMEOUT_MAX_MS)
      .default(TIMEOUT_DEFAULT_MS)
      .describe('After this time the answer uses what has been found so far, and degraded says so.'),
  })
  .refine(hasOwnerId, { message: OWNER_ID_MISSING, path: ['user_id'] })
  .meta({ id: 'PostRecall', examples: QUESTIONS });
export type PostRecall = z.infer<typeof PostRecall>;

const CitedMemory = MemoryView.pick({
  id: true,
  memory: true,
  version: true,
  valid_from: true,
  utc_offset: true,
  invalid_at: true,
})
  .extend({
    kind: z.literal('memory'),
    message_ids: z.array(z.string()).describe('The messages it was extracted from.'),
  })
  .meta({ id: 'CitedMemory' });
const CitedMessage = SourceView.omit({ is_source: true })
  .extend({ kind: z.literal('message') })
  .meta({ id: 'CitedMessage' });
export const Citation = z.discriminatedUnion('kind', [CitedMemory, CitedMessage]).meta({ id: 'Citation' });

const Look = z
  .object({
    step: z.int().describe('0: the initial search for the question itself.'),
    query: z.string().nullable().describe('What was searched for.'),
    around: z.string().nullable().describe('The memory or message whose surrounding conversation was read.'),
    found: z.array(z.string()).describe('The ids of the memories and messages found.'),
  })
  .meta({ id: 'RecallLook' });

export const RecallResult = z
  .object({
    answer: z.string().nullable().describe('null: the memories do not answer the question.'),
    citations: z.array(Citation).describe('The sources of the answer; all of them were read.'),
    trail: z.array(Look).describe('The searches and reads that were made, in order.'),
    usage: UsageView,
    receipt_id: ReceiptId,
    took_ms: z.number(),
    remarks: z.array(z.string()).optional().describe('Notes about this answer.'),
    degraded: z.array(z.string()).optional().describe('Why the answer may be incomplete.'),
  })
  .meta({ id: 'RecallResult' });
