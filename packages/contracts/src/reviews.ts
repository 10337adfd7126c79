import { z } from 'zod';
import { ExternalId, listOf, PageQuery, ScopeView } from './common.ts';
import { MemoryText } from './memories.ts';
import { ReviewedEvent } from './settings.ts';

export const ReviewState = z.enum(['pending', 'approved', 'rejected', 'stale']);

/** An operation that needs or needed approval. */
export const ReviewView = ScopeView.extend({
  id: z.string(),
  state: ReviewState,
  event: ReviewedEvent,
  memory_id: z.string().nullable().describe('null: approving it creates a new memory.'),
  before: z.string().nullable(),
  after: z.string().nullable(),
  reason: z.string(),
  fact: z
    .object({
      id: z.string(),
      text: z.string().nullable(),
      quote: z.string().nullable(),
      source_ids: z.array(z.string()),
    })
    .nullable()
    .describe(
      'null: the review comes from a very negative rating of the memory or from topics common to most users of the agent, not from a fact.',
    ),
  forgotten: z
    .literal(true)
    .optional()
    .describe('true: the memory is forgotten; before, after and the text and quote of the fact are null.'),
  consolidation_id: z
    .string()
    .nullable()
    .describe(
      'The consolidation that proposed it; its plan shows the reasoning. null: proposed by a rating, or by nights that counted common topics of the agent’s users.',
    ),
  said_at: z.string(),
  valid_from: z.string(),
  note: z
    .string()
    .nullable()
    .describe(
      'Why it is stale: the memory it would change no longer exists or can no longer be changed, the rating was removed, or it is known of fewer than 20 users of the agent.',
    ),
  created_at: z.string(),
  settled_at: z.string().nullable(),
}).meta({ id: 'Review' });
export type ReviewView = z.infer<typeof ReviewView>;

export const ReviewList = listOf(ReviewView).meta({ id: 'ReviewList' });

export const ListReviewsQuery = z.strictObject({
  state: ReviewState.optional(),
  user_id: ExternalId.optional(),
  ...PageQuery,
});

export const PostReview = z
  .strictObject({
    decision: z.enum(['approve', 'reject']),
    memory: MemoryText.optional().describe(
      'Only with approve, and not for a deletion: the text to remember instead of the proposed one.',
    ),
  })
  .refine(({ decision, memory }) => decision === 'approve' || memory === undefined, {
    message: 'a text can only be approved; remove memory, or set decision to approve',
    path: ['memory'],
  })
  .meta({
    id: 'PostReview',
    examples: [{ decision: 'approve' }, { decision: 'approve', memory: 'Lives in Bergen' }, { decision: 'reject' }],
  });
