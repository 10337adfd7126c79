import { z } from 'zod';
import {
  Filters,
  hasOwnerId,
  listOf,
  Moment,
  OWNER_ID_MISSING,
  ScopeFields,
  ScopeView,
  UsageView,
  whole,
} from './common.ts';
import { OUTCOMES, QUESTIONS, SEARCHES } from './examples.ts';
import { RelationCore } from './graph.ts';
import { HistoryEvent, MemoryView, NEIGHBOURS_MAX, SaidMessage, SourceView } from './memories.ts';
import { messagesUpTo } from './messages.ts';

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

export const QUERY_MAX = 20_000;
export const TOP_K_MAX = 200;
const TOP_K_DEFAULT = 10;
/** As long as the longest long-poll. */
export const TIMEOUT_MAX_MS = 60_000;

export const SearchMode = z.enum(['hybrid', 'vector', 'keyword']);

export const Cut = z
  .enum(['auto', 'none'])
  .describe(
    'auto: return only what answers the query, and nothing if nothing does. none: return the best top_k, however low their scores are. ' +
      'Defaults to auto; with threshold or rerank, to none.',
  );

export const Threshold = z
  .number()
  .min(0)
  .max(1)
  .optional()
  .describe('Return only memories with at least this score, in place of the cut.');

const INCLUDES = ['sources', 'scores', 'history', 'messages', 'relations'] as const;

/** The last turns; a transcript belongs in a batch. */
const MESSAGES_MAX = 50;

export const latestTurns = (what: string) => messagesUpTo(MESSAGES_MAX).optional().describe(what);

/** For questions that only make sense after what was said before. */
const LeaningFields = {
  messages: latestTurns('The latest turns, which the query may refer to. Needs rewrite.'),
  rewrite: z
    .boolean()
    .optional()
    .describe('Has the chat model rewrite a query that refers to messages, so that it can be searched for on its own.'),
};

const Neighbours = z.int().min(0).max(NEIGHBOURS_MAX).optional();

export const PostSearch = z
  .strictObject({
    query: z.string().max(QUERY_MAX),
    ...ScopeFields,
    filters: Filters.optional(),
    top_k: z.int().min(1).max(TOP_K_MAX).default(TOP_K_DEFAULT),
    threshold: Threshold,
    cut: Cut.optional(),
    mode: SearchMode.default('hybrid'),
    as_of: Moment.optional().describe('Return what was true at this time instead of now.'),
    latest_only: z
      .boolean()
      .optional()
      .describe(
        'false: return every version of each memory, including former and deleted ones; with as_of, those ' +
          'that started by then.',
      ),
    include: z
      .array(z.enum(INCLUDES))
      .max(INCLUDES.length)
      .default([])
      .describe('What to return with the results. "relations": graph relations that match the query.'),
    explain: z
      .boolean()
      .optional()
      .describe('true: explain the rank of each result, and where and why the results end.'),
    before: Neighbours.describe('How many messages to include before each source. Needs include: ["sources"].'),
    after: Neighbours.describe('How many messages to include after each source. Needs include: ["sources"].'),
    rerank: z
      .union([z.boolean(), z.enum(['endpoint', 'model'])])
      .optional()
      .describe('Reranks the best results with a rerank endpoint or the chat model. true: whichever is configured.'),
    ...LeaningFields,
    receipt: Receipted,
    timeout_ms: whole(1, TIMEOUT_MAX_MS)
      .optional()
      .describe('Parts that are not ready in time are omitted and listed in degraded.'),
  })
  .refine(hasOwnerId, { message: OWNER_ID_MISSING, path: ['user_id'] })
  .refine(({ before, include }) => before === undefined || include.includes('sources'), onlyWithSources('before'))
  .refine(({ after, include }) => after === undefined || include.includes('sources'), onlyWithSources('after'))
  .refine(({ messages, rewrite }) => (rewrite === true) === (messages !== undefined), {
    message: 'messages and rewrite need each other: add the other, or remove this field',
    path: ['rewrite'],
  })
  .meta({ id: 'PostSearch', examples: SEARCHES });
export type PostSearch = z.infer<typeof PostSearch>;

function onlyWithSources(field: string) {
  return { message: 'before and after need include: ["sources"]; add it, or remove this field', path: [field] };
}

const Scores = z
  .object({
    vector: z.number().nullable().describe('Cosine similarity, -1 to 1; null if vector search did not find it.'),
    keyword: z.number().nullable().describe('BM25 score, 0 or more; null if keyword search did not find it.'),
    relative: z.number().describe('Relevance compared with the first result, 0 to 1.'),
  })
  .meta({ id: 'Scores' });

const LegScore = z
  .object({ score: z.number(), rank: z.int().describe('1: the best of this search.') })
  .nullable()
  .describe('null: this search did not find it.');

/** What was found and how, of a result or of the first one that is not one. */
const Found = z.object({
  keyword: LegScore,
  vector: LegScore,
  fused: z.number().describe('Both searches together, each relative to its best hit.'),
  boosts: z
    .record(z.string(), z.number())
    .describe(
      'Added to it, by factor: speaker, subject, topics, asking, time, shared, sitting, freshness, feedback, relations.',
    ),
  chance: z
    .number()
    .nullable()
    .describe('How likely it answers, 0 to 1; null if the query asks for all there is, or is a vector search.'),
});

const HitExplanation = Found.extend({
  passed_over: z
    .array(MemoryView.pick({ version: true, memory: true, valid_from: true, invalid_at: true }))
    .describe('Other versions of the memory, oldest first, which did not hold at the requested time.'),
}).meta({ id: 'HitExplanation' });

const SearchExplanation = z
  .object({
    cut: z
      .enum(['likelihood', 'few_known', 'everything', 'nothing', 'off'])
      .describe(
        'likelihood: the results answer the query. few_known: nothing clearly does, but few memories are known, and these ' +
          'share most words. everything: the query asks for all there is, or is a vector search. nothing: nothing answers. ' +
          'off: threshold, rerank or top_k determine the end.',
      ),
    answered: z
      .number()
      .nullable()
      .describe('How likely anything answers, 0 to 1; null if the query asks for all there is, or is a vector search.'),
    answered_least: z.number().nullable().describe('Below this nothing is returned; null if nothing was cut by it.'),
    chance_least: z
      .number()
      .nullable()
      .describe(
        'Memories with a lower likelihood are not returned, unless they contain all words of the query; null if nothing was cut by it.',
      ),
    threshold: z.number().nullable(),
    found: z.int().describe('How many memories were ranked.'),
    below: Found.extend({ id: z.string(), version: z.int(), memory: z.string(), score: z.number() })
      .nullable()
      .describe('The first memory in this order that is not a result.'),
  })
  .meta({ id: 'SearchExplanation' });

export const SearchHit = MemoryView.extend({
  score: z
    .number()
    .describe('0 to 1: the confidence that this answers the query. With mode vector: the cosine similarity.'),
  latest: z.boolean().optional().describe('Only with latest_only: false. true: this is the current version.'),
  rerank_score: z.number().optional().describe('Only with rerank: the score that determines the order.'),
  scores: Scores.optional(),
  explanation: HitExplanation.optional().describe('Only with explain.'),
  sources: z.array(SourceView).optional(),
  history: z.array(HistoryEvent).optional().describe('The newest events of the memory, oldest first.'),
}).meta({ id: 'SearchHit' });

export const MessageHit = ScopeView.extend({
  ...SaidMessage.shape,
  score: z.number().describe('0 to 1: the confidence that this message answers the query.'),
  scores: Scores.optional(),
}).meta({ id: 'MessageHit' });

export const RelationHit = RelationCore.extend({
  score: z.number().describe('0 to 1. Only comparable within one query.'),
}).meta({ id: 'RelationHit' });

export const SearchResult = z
  .object({
    results: z.array(SearchHit),
    relations: z.array(RelationHit).optional().describe('Only with include: ["relations"]. Best first, at most top_k.'),
    messages: z
      .array(MessageHit)
      .optional()
      .describe('Only with include: ["messages"]. Matching messages, best first.'),
    rewritten_query: z.string().optional().describe('Only with rewrite: what was searched for.'),
    explanation: SearchExplanation.optional().describe('Only with explain.'),
    receipt_id: ReceiptId,
    took_ms: z.number(),
    degraded: z.array(z.string()).optional().describe('Why the answer may be incomplete.'),
  })
  .meta({ id: 'SearchResult' });

const RECALL_QUERY_MAX = 4_000;
const RECALL_TOP_K_MAX = 50;
const RECALL_TOP_K_DEFAULT = 10;
/** Each step is a model call that somebody waits for. */
const STEPS_MAX = 5;
const STEPS_DEFAULT = 3;
/** Less is not enough for one step. */
const TOKENS_MIN = 2_000;
const TOKENS_MAX = 100_000;
const TOKENS_DEFAULT = 16_000;
const RECALL_TIMEOUT_MIN_MS = 100;
const RECALL_TIMEOUT_DEFAULT_MS = 30_000;

export const PostRecall = z
  .strictObject({
    query: z.string().max(RECALL_QUERY_MAX).describe('The question.'),
    ...ScopeFields,
    filters: Filters.optional(),
    as_of: Moment.optional().describe('Answer from what was true at this time.'),
    top_k: whole(1, RECALL_TOP_K_MAX)
      .default(RECALL_TOP_K_DEFAULT)
      .describe('How many memories and messages each search returns.'),
    max_steps: z.int().min(1).max(STEPS_MAX).default(STEPS_DEFAULT).describe('The maximum number of model calls.'),
    max_tokens: whole(TOKENS_MIN, TOKENS_MAX)
      .default(TOKENS_DEFAULT)
      .describe('The approximate token budget of all these calls together.'),
    receipt: Receipted,
    timeout_ms: whole(RECALL_TIMEOUT_MIN_MS, TIMEOUT_MAX_MS)
      .default(RECALL_TIMEOUT_DEFAULT_MS)
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
