import { ListReviewsQuery, PostReview, ReviewList, ReviewView } from '@slowwave/contracts';
import { isoOf, isoOrNull, type Review, type ReviewResult, scopeView, type TenantId } from '@slowwave/engine';
import { type App, IdParams, listed, notFound, pageOf, problem, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { overtaken } from './memories.ts';

/** Operations that wait for a person. */
export function reviewRoutes(app: App, deps: ConsoleDeps): void {
  listReviews(app, deps);
  postReview(app, deps);
}

const listReviewsSchema = {
  operationId: 'listReviews',
  tags: ['manage'],
  summary: 'List reviews, pending and decided, newest first',
  querystring: ListReviewsQuery,
  response: { 200: ReviewList },
};

function listReviews(app: App, { ledger }: ConsoleDeps): void {
  app.get(
    '/v1/reviews',
    { schema: listReviewsSchema, config: { bounds: { by: 'query', apps: false } } },
    async (request) => {
      const { state, user_id } = request.query;
      const filter = { ...(state !== undefined && { state }), ...(user_id !== undefined && { userId: user_id }) };
      const page = await ledger.reviews.list(requestTenant(request) as TenantId, filter, pageOf(request.query));
      return listed(page, reviewView);
    },
  );
}

const postReviewSchema = {
  operationId: 'settleReview',
  tags: ['manage'],
  summary: 'Approve or reject a pending operation',
  description:
    'An approved operation is applied as of the time its fact was said. If that is no longer possible, nothing is ' +
    'changed: the state becomes stale and note says why. 202: done, searchable once the index is available again.',
  params: IdParams,
  body: PostReview,
  response: { 200: ReviewView, 202: ReviewView },
};

function postReview(app: App, { reviewer }: ConsoleDeps): void {
  app.post('/v1/reviews/:id', { schema: postReviewSchema }, async (request, reply) => {
    const { id } = request.params;
    const end = request.body.decision === 'approve' ? reviewer.approve : reviewer.reject;
    const { review, searchable } = settled(await end(requestTenant(request) as TenantId, id), id);
    return reply.code(searchable ? 200 : 202).send(reviewView(review));
  });
}

function settled(result: ReviewResult, id: string): Extract<ReviewResult, { kind: 'settled' }> {
  switch (result.kind) {
    case 'settled':
      return result;
    case 'not_found':
      throw notFound('review', id);
    case 'over':
      throw problem('conflict', `review ${id} is already ${result.state}; it cannot be decided again`);
    case 'early':
      throw problem(
        'conflict',
        `review ${id} deletes what review ${result.first} would add; decide ${result.first} first`,
      );
    case 'conflict':
      throw overtaken();
  }
}

const reviewView = ({ operation, ...review }: Review): ReviewView => ({
  id: review.id,
  ...scopeView(review.scope),
  state: review.state,
  event: operation.kind,
  // The id a new memory will have means nothing before it is there.
  memory_id: operation.kind === 'ADD' && review.state !== 'approved' ? null : operation.memoryId,
  before: operation.before,
  after: operation.after,
  reason: operation.reason,
  fact: {
    id: operation.fact,
    text: operation.factText,
    quote: operation.details?.quote ?? null,
    source_ids: [...operation.sourceIds],
  },
  consolidation_id: review.consolidationId,
  said_at: isoOf(operation.saidAt.at),
  valid_from: isoOf(operation.validFrom),
  note: review.note,
  created_at: isoOf(review.createdAt),
  settled_at: isoOrNull(review.settledAt),
});
