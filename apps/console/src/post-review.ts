import { PostReview, ReviewView } from '@slowwave/contracts';
import type { ReviewResult, TenantId } from '@slowwave/engine';
import { type App, IdParams, notFound, problem, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { overtaken } from './refusals.ts';
import { reviewView } from './views/review.ts';

const schema = {
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

export function postReview(app: App, { reviewer }: ConsoleDeps): void {
  app.post('/v1/reviews/:id', { schema }, async (request, reply) => {
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
