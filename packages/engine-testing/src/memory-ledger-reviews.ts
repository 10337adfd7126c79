import type { Review, ReviewStore, Settled, Settlement, TenantId } from '@slowwave/engine';
import { showWithGraph } from './memory-ledger-graph-writes.ts';
import { write } from './memory-ledger-memories.ts';
import { pageOf } from './memory-ledger-page.ts';
import { change, type State } from './memory-ledger-state.ts';
import { isOfUser, isStanding } from './memory-ledger-turns.ts';

export function memoryReviews(state: State): ReviewStore {
  return {
    list: async (tenant, filter, page) => {
      const rows = [...state.reviews.values()].filter(
        (review) =>
          review.tenant === tenant &&
          (filter.state === undefined || review.state === filter.state) &&
          isOfUser(state, review.lane, filter.userId) &&
          (filter.memoryId === undefined || review.operation.memoryId === filter.memoryId) &&
          (filter.lane === undefined || review.lane === filter.lane),
      );
      const paged = pageOf<Review>(rows, (review) => ({ order: review.createdAt, id: review.id }), page);
      return { ...paged, results: paged.results.map((review) => ({ ...review })) };
    },
    get: async (tenant, id) => {
      const review = state.reviews.get(id);
      return review?.tenant === tenant && isStanding(state, review.lane) ? { ...review } : null;
    },
    settle: async (tenant, id, settlement) => settle(state, { tenant, id }, settlement),
    rewrite: async (tenant, reviews) => {
      for (const { id, operation, note } of reviews) {
        const review = state.reviews.get(id);
        if (review?.tenant === tenant && review.state !== 'pending') change(review, { operation, note });
      }
    },
  };
}

function settle(state: State, which: { tenant: TenantId; id: string }, settlement: Settlement): Settled {
  const review = state.reviews.get(which.id);
  if (review?.tenant !== which.tenant || review.state !== 'pending') return { kind: 'over' };
  if (settlement.state === 'approved') {
    const { change: memoryChange, tombstones, now } = settlement;
    const written = write(state, which.tenant, { changes: [memoryChange], tombstones, now });
    if (written.kind === 'conflict') return written;
  }
  const note = settlement.state === 'stale' ? settlement.note : null;
  change(review, { state: settlement.state, note, settledAt: settlement.now });
  showWithGraph(state, review.lane, settlement.now);
  return { kind: 'settled' };
}
