import { z } from 'zod';
import { hasOwnerId, Moment, OWNER_ID_MISSING, ScopeFields, UsageView } from './common.ts';
import { QUESTIONS } from './examples.ts';
import { Filters } from './filters.ts';
import { MemoryView, SourceView } from './memories.ts';

const QUERY_MAX = 4_000;
const TOP_K_MAX = 50;
const TOP_K_DEFAULT = 10;
/** Each is a call of a model that somebody waits for. */
const STEPS_MAX = 5;
const STEPS_DEFAULT = 3;
/** Below this not even one step has something to read. */
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
    as_of: Moment.optional().describe('Answered by what held then.'),
    top_k: z.int().min(1).max(TOP_K_MAX).default(TOP_K_DEFAULT).describe('Memories and messages of each search.'),
    max_steps: z.int().min(1).max(STEPS_MAX).default(STEPS_DEFAULT).describe('Calls of the model, at most.'),
    max_tokens: z
      .int()
      .min(TOKENS_MIN)
      .max(TOKENS_MAX)
      .default(TOKENS_DEFAULT)
      .describe('What these calls read and write together, about.'),
    timeout_ms: z
      .int()
      .min(TIMEOUT_MIN_MS)
      .max(TIMEOUT_MAX_MS)
      .default(TIMEOUT_DEFAULT_MS)
      .describe('Then the answer is what was found until then, and degraded says so.'),
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
  .extend({ kind: z.literal('memory'), message_ids: z.array(z.string()).describe('The messages it came from.') })
  .meta({ id: 'CitedMemory' });
const CitedMessage = SourceView.omit({ is_source: true })
  .extend({ kind: z.literal('message') })
  .meta({ id: 'CitedMessage' });
export const Citation = z.discriminatedUnion('kind', [CitedMemory, CitedMessage]).meta({ id: 'Citation' });

const Look = z
  .object({
    step: z.int().describe('0: the first search, for the question itself.'),
    query: z.string().nullable().describe('What was searched for.'),
    around: z.string().nullable().describe('The memory or message around which the conversation was read.'),
    found: z.array(z.string()).describe('Ids of memories and messages.'),
  })
  .meta({ id: 'RecallLook' });

export const RecallResult = z
  .object({
    answer: z.string().nullable().describe('null: what is remembered does not answer the question.'),
    citations: z.array(Citation).describe('What the answer rests on; all of it was read.'),
    trail: z.array(Look).describe('What was searched for and read, in order.'),
    usage: UsageView,
    took_ms: z.number(),
    remarks: z.array(z.string()).optional().describe('What is to be known about this answer.'),
    degraded: z.array(z.string()).optional().describe('Why the answer is less than what was asked for.'),
  })
  .meta({ id: 'RecallResult' });
