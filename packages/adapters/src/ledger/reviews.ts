import type {
  Application,
  HeldOperation,
  LaneId,
  Memory,
  MemoryChange,
  Millis,
  Proposal,
  Review,
  ReviewStore,
  TenantId,
  Turn,
} from '@slowwave/engine';
import { conflicts, openScopes, writeChanges } from './changes.ts';
import { showWishes } from './forgetting.ts';
import { isStanding, type Listing, laneOfUser, newestFirst } from './page.ts';
import type { ColumnsOf } from './rows/columns.ts';
import { type OwnerColumns, ownerFrom, type ScopeColumns, scopeFrom } from './rows/columns.ts';
import { first, firstAs, insert, read, run, type Script, storeOf, together, write } from './script.ts';
import { lockLanes } from './turn.ts';

export const reviewStore = storeOf<ReviewStore>('reviews', {
  list: read((tenant, filter, page) => newestFirst(REVIEWS_LISTED, page, { tenant, ...filter })),
  get: read((tenant, id) => {
    const text = `${SELECT_REVIEWS} WHERE r.tenant = @tenant AND r.id = @id AND ${isStanding('r.lane')}`;
    return firstAs(reviewFrom, text, { tenant, id });
  }),
  /** Ends a pending review, and changes its memory when approved. */
  settle: write(function* (tenant, id, settlement) {
    const { state, now } = settlement;
    const review = yield* first<PendingRow>(SELECT_PENDING, { tenant, id });
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
    const { lane, consolidation_id: consolidationId, memory_id: memoryId } = review;
    if (consolidationId !== null) yield* showWishes({ tenant, lane, now }, { consolidationId, memoryId });
    return { kind: 'settled' };
  }),
  rewrite: write(function* (tenant, reviews) {
    const rows = reviews.map(({ id, operation, note }) => ({ id, tenant, operation: JSON.stringify(operation), note }));
    yield* together(...rows.map((row) => run(REWRITE, row)));
  }),
});

const SELECT_REVIEWS = `
  SELECT r.*, l.owner_kind, l.owner_id, s.user_id, s.agent_id, s.run_id, s.app_id
  FROM reviews r JOIN lanes l ON l.id = r.lane JOIN scopes s ON s.id = r.scope`;

type ReviewRow = ColumnsOf<Omit<Review, 'owner' | 'scope'>, 'operation'> & ScopeColumns & OwnerColumns;

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

const REVIEWS_LISTED: Listing<ReviewRow, Review> = {
  select: SELECT_REVIEWS,
  by: ['r.created_at', 'r.id'],
  always: [isStanding('r.lane')],
  asked: {
    tenant: 'r.tenant = @tenant',
    state: 'r.state = @state',
    userId: laneOfUser('r.lane'),
    memoryId: 'r.memory_id = @memoryId',
    lane: 'r.lane = @lane',
  },
  make: reviewFrom,
};

/** Operations of an applied plan begin to wait. */
export function* openReviews(turn: Turn, { reviews, now }: Application): Script<void> {
  if (reviews.length > 0) yield* openHeld(turn, { operations: reviews, consolidationId: turn.consolidationId, now });
}

/** What a rating proposes begins to wait in the place of what earlier ones did. Needs the lock of the memory's lane. */
export function* propose(tenant: TenantId, { changes, proposal, now }: Proposing): Script<void> {
  const memory = changes.find((change) => change.memory.id === proposal?.memoryId)?.memory;
  if (proposal === undefined || memory === undefined) return;
  const { memoryId, note, opens } = proposal;
  yield* run(END_PROPOSALS, { tenant, memoryId, note, now });
  yield* openHeld(memory, { operations: [opens], consolidationId: null, now });
}

interface Proposing {
  readonly changes: readonly MemoryChange[];
  readonly proposal?: Proposal | undefined;
  readonly now: Millis;
}

interface Opening {
  readonly operations: readonly HeldOperation[];
  readonly consolidationId: string | null;
  readonly now: Millis;
}

/** Needs the lock of the lane. */
export function* openHeld(
  place: Pick<Memory, 'tenant' | 'lane' | 'scope'>,
  { operations, consolidationId, now }: Opening,
): Script<void> {
  const { tenant, lane } = place;
  const scope = (yield* openScopes([place]))(place);
  const rows = operations.map((operation) => ({
    id: operation.id,
    tenant,
    lane,
    scope,
    consolidation_id: consolidationId,
    memory_id: operation.memoryId,
    operation: JSON.stringify(operation),
    topic: operation.topic ?? null,
    state: 'pending',
    created_at: now,
  }));
  yield* insert('reviews', rows);
}

const REWRITE = `
  UPDATE reviews SET operation = @operation::jsonb, note = @note
  WHERE tenant = @tenant AND id = @id AND state <> 'pending'`;

interface PendingRow {
  readonly lane: LaneId;
  /** null: a rating proposed it. */
  readonly consolidation_id: string | null;
  readonly memory_id: string;
}

const SELECT_PENDING = `
  SELECT lane, consolidation_id, memory_id FROM reviews WHERE tenant = @tenant AND id = @id AND state = 'pending'`;

const END_PROPOSALS = `
  UPDATE reviews SET state = 'stale', note = @note, settled_at = @now
  WHERE memory_id = @memoryId AND tenant = @tenant AND consolidation_id IS NULL AND state = 'pending'`;

const SETTLE = `
  UPDATE reviews SET state = @state, note = @note, settled_at = @now WHERE tenant = @tenant AND id = @id`;
