import { z } from 'zod';
import { Role } from './batches.ts';
import { hasOwnerId, Moment, OWNER_ID_MISSING, ScopeFields, ScopeView } from './common.ts';
import { SEARCHES } from './examples.ts';
import { Filters } from './filters.ts';
import { RelationCore } from './graph.ts';
import { HistoryEvent, MemoryView, NEIGHBOURS_MAX, SourceView, UtcOffset } from './memories.ts';

export const QUERY_MAX = 20_000;
export const TOP_K_MAX = 200;
const TOP_K_DEFAULT = 10;
/** As long as the longest long-poll: nobody waits longer for a search. */
export const TIMEOUT_MAX_MS = 60_000;

export const SearchMode = z.enum(['hybrid', 'vector', 'keyword']);

const INCLUDES = ['sources', 'scores', 'history', 'messages', 'relations'] as const;

const Neighbours = z.int().min(0).max(NEIGHBOURS_MAX).optional();

export const PostSearch = z
  .strictObject({
    query: z.string().max(QUERY_MAX),
    ...ScopeFields,
    filters: Filters.optional(),
    top_k: z.int().min(1).max(TOP_K_MAX).default(TOP_K_DEFAULT),
    threshold: z.number().min(0).max(1).optional(),
    mode: SearchMode.default('hybrid'),
    as_of: Moment.optional().describe('What held then, instead of what holds now.'),
    latest_only: z
      .boolean()
      .optional()
      .describe('false: every version of each memory, former and deleted ones too; with as_of, those begun by then.'),
    include: z
      .array(z.enum(INCLUDES))
      .max(INCLUDES.length)
      .default([])
      .describe('What comes with the results. "relations": those of the graph that the query is about.'),
    before: Neighbours.describe('Messages before each source; with include: ["sources"].'),
    after: Neighbours.describe('Messages after each source; with include: ["sources"].'),
    rerank: z
      .union([z.boolean(), z.enum(['endpoint', 'model'])])
      .optional()
      .describe('The best are put in order once more: by a reranker, or by the chat model. true: by what there is.'),
    timeout_ms: z
      .int()
      .min(1)
      .max(TIMEOUT_MAX_MS)
      .optional()
      .describe('What is not there by then is left out, and degraded says so.'),
  })
  .refine(hasOwnerId, { message: OWNER_ID_MISSING, path: ['user_id'] })
  .refine(({ before, include }) => before === undefined || include.includes('sources'), onlyWithSources('before'))
  .refine(({ after, include }) => after === undefined || include.includes('sources'), onlyWithSources('after'))
  .meta({ id: 'PostSearch', examples: SEARCHES });
export type PostSearch = z.infer<typeof PostSearch>;

function onlyWithSources(field: string) {
  return { message: 'it is about sources: ask for them with include: ["sources"], or leave it out', path: [field] };
}

const Scores = z
  .object({
    vector: z.number().nullable().describe('Cosine, -1 to 1; null where the leg did not bring it.'),
    keyword: z.number().nullable().describe('BM25, from 0 on; null where the leg did not bring it.'),
    relative: z.number().describe('How well it fits beside the first one, 0 to 1.'),
  })
  .meta({ id: 'Scores' });

export const SearchHit = MemoryView.extend({
  score: z.number().describe('0 to 1: how sure it is that this answers.'),
  latest: z.boolean().optional().describe('With latest_only: false: whether it is what the memory says today.'),
  rerank_score: z.number().optional().describe('With rerank: what the order follows.'),
  scores: Scores.optional(),
  sources: z.array(SourceView).optional(),
  history: z.array(HistoryEvent).optional().describe('The newest events of the memory, oldest first.'),
}).meta({ id: 'SearchHit' });

export const MessageHit = ScopeView.extend({
  message_id: z.string(),
  batch_id: z.string(),
  id: z.string().nullable().describe('The id the caller gave the message.'),
  role: Role,
  name: z.string().nullable(),
  content: z.string(),
  said_at: z.string(),
  utc_offset: UtcOffset,
  score: z.number(),
  scores: Scores.optional(),
}).meta({ id: 'MessageHit' });

export const RelationHit = RelationCore.extend({
  score: z.number().describe('0 to 1. Orders the relations of one query.'),
}).meta({ id: 'RelationHit' });

export const SearchResult = z
  .object({
    results: z.array(SearchHit),
    relations: z.array(RelationHit).optional().describe('With include: ["relations"]: best first, at most top_k.'),
    messages: z.array(MessageHit).optional().describe('With include: ["messages"]: what was said, best first.'),
    took_ms: z.number(),
    degraded: z.array(z.string()).optional().describe('Why the answer may be incomplete.'),
  })
  .meta({ id: 'SearchResult' });
