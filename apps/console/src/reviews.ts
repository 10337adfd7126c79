import { ListReviewsQuery, PostReview, ReviewList, ReviewView } from '@slowwave/contracts';
import {
  forgottenAt,
  isoOf,
  isoOrNull,
  type Review,
  type ReviewResult,
  scopeView,
  type TenantId,
  withShownQuotes,
} from '@slowwave/engine';
import { given, IdParams, listed, notFound, pageOf, problem } from '@slowwave/http';
import { type ConsoleDeps, routesOf } from './deps.ts';
import { overtaken, textKept } from './memories.ts';

const route = routesOf('manage');

/** Operations that need approval. */
export const reviewRoutes = [
  route('GET /v1/reviews', {
    id: 'listReviews',
    summary: 'List reviews, pending and decided, newest first',
    query: ListReviewsQuery,
    answer: ReviewList,
    bounds: { by: 'query', apps: false },
    handle: async ({ ledger }, { tenant, query }) => {
      const filter = given({ state: query.state, userId: query.user_id });
      const page = await ledger.reviews.list(tenant, filter, pageOf(query));
      const viewOf = await views({ ledger }, tenant, page.results);
      return listed(page, viewOf);
    },
  }),
  route('POST /v1/reviews/:id', {
    id: 'settleReview',
    summary: 'Approve or reject a pending operation',
    description:
      'An approved operation is applied as of the time its fact was said; a deletion proposed by a rating takes effect ' +
      'now. If that is no longer possible, nothing is ' +
      'changed: the state becomes stale and note says why. With memory, that text is remembered instead of the ' +
      'proposed one; the review keeps what was proposed. 202: done, searchable once the index is available again.',
    params: IdParams,
    body: PostReview,
    answer: { 200: ReviewView, 202: ReviewView },
    handle: async ({ ledger, reviewer }, { tenant, params, body, reply }) => {
      const text = body.memory === undefined ? undefined : await textKept(ledger, tenant, body.memory);
      const result = await (body.decision === 'approve'
        ? reviewer.approve(tenant, params.id, text)
        : reviewer.reject(tenant, params.id));
      const { review, searchable } = settled(result, params.id);
      if (!searchable) reply.code(202);
      return (await views({ ledger }, tenant, [review]))(review);
    },
  }),
];

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
    case 'no_text':
      throw problem('invalid_request', `review ${id} deletes a memory, so there is no text to change; remove memory`, {
        errors: [{ path: 'memory', message: 'expected none for a deletion' }],
      });
    case 'conflict':
      throw overtaken();
  }
}

/** The memories of reviews that are forgotten by now. */
async function forgottenAmong(
  { ledger }: Pick<ConsoleDeps, 'ledger'>,
  tenant: TenantId,
  reviews: readonly Review[],
): Promise<ReadonlySet<string>> {
  const memoryIds = new Set(reviews.map(({ operation }) => operation.memoryId));
  const memories = await ledger.memories.many(tenant, [...memoryIds]);
  return new Set(memories.filter((memory) => forgottenAt(memory) !== null).map(({ id }) => id));
}

/** How each of these reviews is shown: nothing of memories that are forgotten by now, and no quote of hidden words. */
async function views(
  deps: Pick<ConsoleDeps, 'ledger'>,
  tenant: TenantId,
  reviews: readonly Review[],
): Promise<(review: Review) => ReviewView> {
  const operations = reviews.map(({ operation }) => operation);
  const [forgotten, shown] = await Promise.all([
    forgottenAmong(deps, tenant, reviews),
    withShownQuotes(deps, tenant, operations),
  ]);
  const byId = new Map(shown.map((operation) => [operation.id, operation]));
  return (review) => reviewView({ ...review, operation: byId.get(review.operation.id) ?? review.operation }, forgotten);
}

function reviewView({ operation, ...review }: Review, forgotten: ReadonlySet<string>): ReviewView {
  const tell = forgotten.has(operation.memoryId) ? untoldOf : toldOf;
  return {
    id: review.id,
    ...scopeView(review.scope),
    state: review.state,
    event: operation.kind,
    // The id of a new memory is not shown before it exists.
    memory_id: operation.kind === 'ADD' && review.state !== 'approved' ? null : operation.memoryId,
    ...tell(operation),
    consolidation_id: review.consolidationId,
    said_at: isoOf(operation.saidAt.at),
    valid_from: isoOf(operation.validFrom),
    note: review.note,
    created_at: isoOf(review.createdAt),
    settled_at: isoOrNull(review.settledAt),
  };
}

const toldOf = ({ before, after, reason, fact: id, factText, details, sourceIds }: Review['operation']) => ({
  before,
  after,
  reason,
  fact: id === null ? null : { id, text: factText, quote: details?.quote ?? null, source_ids: [...sourceIds] },
});

/** What is left of it where its memory is forgotten. */
const untoldOf = ({ fact: id, sourceIds }: Review['operation']) => ({
  ...{ before: null, after: null, reason: 'forgotten', forgotten: true as const },
  fact: id === null ? null : { id, text: null, quote: null, source_ids: [...sourceIds] },
});
