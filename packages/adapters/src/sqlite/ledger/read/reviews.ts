import type { Page, Paged, Review, ReviewFilter, TenantId } from '@slowwave/engine';
import { pageOf } from '../../../ledger/cursor.ts';
import { isStanding, laneOfUser, newestFirst, where } from '../../../ledger/page.ts';
import { type ReviewRow, reviewFrom } from '../../../ledger/rows/review.ts';
import type { Sql } from '../sql.ts';

export function getReview(sql: Sql, tenant: TenantId, id: string): Review | null {
  const row = sql.get<ReviewRow>(
    `${SELECT_REVIEWS} WHERE r.tenant = @tenant AND r.id = @id AND ${isStanding('r.lane')}`,
    { tenant, id },
  );
  return row === null ? null : reviewFrom(row);
}

export function listReviews(
  sql: Sql,
  { tenant, filter, page }: { tenant: TenantId; filter: ReviewFilter; page: Page },
): Paged<Review> {
  const { state = null, userId = null, memoryId = null } = filter;
  const newest = newestFirst(page, 'r.created_at', 'r.id');
  const conditions = where([
    'r.tenant = @tenant',
    isStanding('r.lane'),
    state === null ? null : 'r.state = @state',
    userId === null ? null : laneOfUser('r.lane'),
    memoryId === null ? null : 'r.memory_id = @memoryId',
    newest.condition,
  ]);
  const params = { tenant, state, userId, memoryId, ...newest.params };
  const rows = sql.all<ReviewRow>(`${SELECT_REVIEWS} ${conditions} ${newest.order}`, params);
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.created_at, row.id]);
  return { results: results.map(reviewFrom), nextCursor };
}

const SELECT_REVIEWS = `
  SELECT r.*, l.owner_kind, l.owner_id, s.user_id, s.agent_id, s.run_id, s.app_id
  FROM reviews r JOIN lanes l ON l.id = r.lane JOIN scopes s ON s.id = r.scope`;
