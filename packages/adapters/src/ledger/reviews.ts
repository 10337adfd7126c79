import type {
  Application,
  LaneId,
  Page,
  Paged,
  Review,
  ReviewFilter,
  ReviewStore,
  Settled,
  Settlement,
  TenantId,
  Turn,
} from '@slowwave/engine';
import { type Access, asRead, asWrite } from './access.ts';
import { conflicts, openScopes, writeChanges } from './changes.ts';
import { pageOf } from './cursor.ts';
import { isStanding, laneOfUser, newestFirst, where } from './page.ts';
import { type OwnerColumns, ownerFrom, type ScopeColumns, scopeFrom } from './rows/scope.ts';
import { all, first, insert, run, type Script, type Table } from './script.ts';
import { lockLanes } from './turn.ts';

export const reviewStore = ({ read, write }: Access): ReviewStore => ({
  list: (tenant, filter, page) => read(listReviews, { tenant, filter, page }),
  get: (tenant, id) => read(getReview, { tenant, id }),
  settle: (tenant, id, settlement) => write(settleReview, { tenant, id, settlement }),
});

interface List {
  readonly tenant: TenantId;
  readonly filter: ReviewFilter;
  readonly page: Page;
}

const listReviews = asRead('reviews.list', function* ({ tenant, filter, page }: List): Script<Paged<Review>> {
  const { state = null, userId = null, memoryId = null, lane = null } = filter;
  const newest = newestFirst(page, 'r.created_at', 'r.id');
  const conditions = where([
    'r.tenant = @tenant',
    isStanding('r.lane'),
    state === null ? null : 'r.state = @state',
    userId === null ? null : laneOfUser('r.lane'),
    memoryId === null ? null : 'r.memory_id = @memoryId',
    lane === null ? null : 'r.lane = @lane',
    newest.condition,
  ]);
  const given = { tenant, state, userId, memoryId, lane, ...newest.params };
  const rows = yield* all<ReviewRow>(`${SELECT_REVIEWS} ${conditions} ${newest.order}`, given);
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.created_at, row.id]);
  return { results: results.map(reviewFrom), nextCursor };
});

interface OneOf {
  readonly tenant: TenantId;
  readonly id: string;
}

const getReview = asRead('reviews.get', function* (of: OneOf): Script<Review | null> {
  const text = `${SELECT_REVIEWS} WHERE r.tenant = @tenant AND r.id = @id AND ${isStanding('r.lane')}`;
  const row = yield* first<ReviewRow>(text, { ...of });
  return row === null ? null : reviewFrom(row);
});

const SELECT_REVIEWS = `
  SELECT r.*, l.owner_kind, l.owner_id, s.user_id, s.agent_id, s.run_id, s.app_id
  FROM reviews r JOIN lanes l ON l.id = r.lane JOIN scopes s ON s.id = r.scope`;

interface ReviewRow extends ScopeColumns, OwnerColumns {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly consolidation_id: string;
  readonly operation: string;
  readonly state: Review['state'];
  readonly note: string | null;
  readonly created_at: number;
  readonly settled_at: number | null;
}

const reviewFrom = (row: ReviewRow): Review => ({
  id: row.id,
  tenant: row.tenant,
  lane: row.lane,
  owner: ownerFrom(row),
  scope: scopeFrom(row),
  consolidationId: row.consolidation_id,
  operation: JSON.parse(row.operation),
  state: row.state,
  note: row.note,
  createdAt: row.created_at,
  settledAt: row.settled_at,
});

/** Operations of an applied plan begin to wait. */
export function* openReviews(turn: Turn, { reviews, now }: Application): Script<void> {
  if (reviews.length === 0) return;
  const { tenant, lane, consolidationId } = turn;
  const scope = (yield* openScopes([turn]))(turn);
  const rows = reviews.map((operation) => ({
    id: operation.id,
    tenant,
    lane,
    scope,
    consolidation_id: consolidationId,
    memory_id: operation.memoryId,
    operation: JSON.stringify(operation),
    state: 'pending',
    created_at: now,
  }));
  yield* insert(REVIEWS, rows);
}

const REVIEWS: Table<
  'id' | 'tenant' | 'lane' | 'scope' | 'consolidation_id' | 'memory_id' | 'operation' | 'state' | 'created_at'
> = {
  name: 'reviews',
  columns: {
    id: 'text',
    tenant: 'text',
    lane: 'text',
    scope: 'bigint',
    consolidation_id: 'text',
    memory_id: 'text',
    operation: 'jsonb',
    state: 'text',
    created_at: 'bigint',
  },
};

interface Settle extends OneOf {
  readonly settlement: Settlement;
}

/** Ends a pending review, and changes its memory when approved. */
const settleReview = asWrite('reviews.settle', function* ({ tenant, id, settlement }: Settle): Script<Settled> {
  const { state, now } = settlement;
  const review = yield* first<{ lane: LaneId }>(SELECT_PENDING, { tenant, id });
  if (review === null) return { kind: 'over' };
  const lanes = yield* lockLanes(state === 'approved' ? [review.lane, settlement.change.memory.lane] : [review.lane]);
  if ((yield* first(SELECT_PENDING, { tenant, id })) === null) return { kind: 'over' }; // settled while this one waited
  if (state === 'approved') {
    const changes = [settlement.change];
    const memoryIds = yield* conflicts(tenant, changes, lanes);
    if (memoryIds.length > 0) return { kind: 'conflict', memoryIds };
    yield* writeChanges({ changes, tombstones: settlement.tombstones }, { tenant, consolidationId: null, now });
  }
  const note = state === 'stale' ? settlement.note : null;
  yield* run(SETTLE, { tenant, id, state, note, now });
  return { kind: 'settled' };
});

const SELECT_PENDING = "SELECT lane FROM reviews WHERE tenant = @tenant AND id = @id AND state = 'pending'";

const SETTLE = `
  UPDATE reviews SET state = @state, note = @note, settled_at = @now WHERE tenant = @tenant AND id = @id`;
