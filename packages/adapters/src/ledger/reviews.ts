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
  TopicStore,
  Turn,
} from '@slowwave/engine';
import { TOPIC_OWNERS } from '@slowwave/engine/storing';
import { conflicts, openScopes, writeChanges } from './changes.ts';
import { showWishes } from './forgetting.ts';
import { isStanding, type Listing, laneOfUser, newestFirst } from './page.ts';
import { type ColumnsOf, type OwnerColumns, ownerFrom, type ScopeColumns, scopeFrom } from './rows/columns.ts';
import { all, first, firstAs, insert, read, run, type Script, storeOf, together, write } from './script.ts';
import { lockLane, lockLanes } from './turn.ts';

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

export const topicStore = storeOf<TopicStore>('topics', {
  /** With the lock of the lane: nothing is counted of who is being erased. */
  put: write(function* ({ tenant, lane, ownerHash }, topics, now) {
    const row = yield* lockLane(lane);
    if (row === null || row.erasure !== null) return;
    yield* run('DELETE FROM topics WHERE tenant = @tenant AND owner_hash = @ownerHash', { tenant, ownerHash });
    const rows = topics.map(({ agentId, topic }) => ({ tenant, agent_id: agentId, topic, owner_hash: ownerHash }));
    yield* insert('topics', rows, 'ON CONFLICT DO NOTHING');
    yield* withdraw(tenant, now);
  }),
  of: read((tenant, agentId) => all(SELECT_TOPICS, { tenant, agentId })),
  propose: write(function* ({ tenant, lane, scope }, operation, now) {
    const row = yield* lockLane(lane);
    const { topic } = operation;
    if (row === null || row.erasure !== null || topic === undefined) return false;
    const decided = yield* first(SELECT_DECIDED, { tenant, lane, topic });
    const owners = yield* first<{ owners: number }>(COUNT_OWNERS, { tenant, agentId: scope.agentId, topic });
    if (decided !== null || (owners?.owners ?? 0) < TOPIC_OWNERS) return false;
    yield* openHeld({ tenant, lane, scope }, { operations: [operation], consolidationId: null, now });
    return true;
  }),
});

/** What was counted of an owner goes, and of an agent all that was counted of its users. */
export function* forgetTopics(
  {
    tenant,
    ownerHash,
    agentId,
  }: { readonly tenant: TenantId; readonly ownerHash: string; readonly agentId: string | null },
  now: Millis,
): Script<void> {
  yield* run('DELETE FROM topics WHERE tenant = @tenant AND owner_hash = @ownerHash', { tenant, ownerHash });
  if (agentId !== null)
    yield* run('DELETE FROM topics WHERE tenant = @tenant AND agent_id = @agentId', { tenant, agentId });
  yield* withdraw(tenant, now);
}

/** Proposals that too few owners are left for are not to be decided any more. */
const withdraw = (tenant: TenantId, now: Millis): Script<unknown> =>
  run(WITHDRAW, {
    tenant,
    now,
    note: `fewer than ${TOPIC_OWNERS} users are left to whom this applies`,
    least: TOPIC_OWNERS,
  });

const WITHDRAW = `
  UPDATE reviews SET state = 'stale', note = @note, settled_at = @now
  WHERE tenant = @tenant AND topic IS NOT NULL AND state = 'pending' AND (
    SELECT count(*) FROM topics t JOIN lanes l ON l.id = reviews.lane
    WHERE t.tenant = reviews.tenant AND t.agent_id = l.owner_id AND t.topic = reviews.topic) < @least`;

const SELECT_TOPICS = `
  SELECT topic, count(*)::bigint AS owners,
    (SELECT count(DISTINCT owner_hash) FROM topics WHERE tenant = @tenant AND agent_id = @agentId)::bigint AS "ownersInAll"
  FROM topics WHERE tenant = @tenant AND agent_id = @agentId GROUP BY topic ORDER BY topic`;

const SELECT_DECIDED = `
  SELECT 1 AS found FROM reviews WHERE tenant = @tenant AND lane = @lane AND topic IS NOT NULL AND topic = @topic AND state <> 'stale' LIMIT 1`;

const COUNT_OWNERS = `
  SELECT count(*)::bigint AS owners FROM topics WHERE tenant = @tenant AND agent_id = @agentId AND topic = @topic`;
