import { ListReviewsQuery, ReviewList } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, type Bounds, listed, pageOf, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { reviewView } from './views/review.ts';

const schema = {
  operationId: 'listReviews',
  tags: ['manage'],
  summary: 'List reviews, pending and decided, newest first',
  querystring: ListReviewsQuery,
  response: { 200: ReviewList },
};

const bounds: Bounds = { by: 'query', apps: false };

export function listReviews(app: App, { ledger }: ConsoleDeps): void {
  app.get('/v1/reviews', { schema, config: { bounds } }, async (request) => {
    const { state, user_id } = request.query;
    const filter = { ...(state !== undefined && { state }), ...(user_id !== undefined && { userId: user_id }) };
    const page = await ledger.reviews.list(requestTenant(request) as TenantId, filter, pageOf(request.query));
    return listed(page, reviewView);
  });
}
