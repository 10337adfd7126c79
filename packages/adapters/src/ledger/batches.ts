import type {
  Batch,
  BatchState,
  BatchStore,
  MemoryEvent,
  Nudge,
  Page,
  Paged,
  ParkedFilter,
  TenantId,
} from '@slowwave/engine';
import { batchNotice, replayPriority } from '@slowwave/engine/storing';
import { type Access, asRead, asWrite } from './access.ts';
import { pageOf } from './cursor.ts';
import { activeWebhooks, noteDeliveries } from './deliveries.ts';
import { flush } from './lane-life.ts';
import { isStanding, laneOfUser, newestFirst, where } from './page.ts';
import { type BatchRow, batchFrom, SELECT_BATCHES } from './rows/batch.ts';
import { type EventRow, eventFrom } from './rows/event.ts';
import { all, first, type Script, together } from './script.ts';
import { lockLanes, recounted, saveLane } from './turn.ts';

/** `append`: each ledger gathers appends in its own way. */
export const batchStore = ({ read, write }: Access, append: BatchStore['append']): BatchStore => ({
  append,
  get: (tenant, id) => read(getBatch, { tenant, id }),
  list: (tenant, filter, page) => read(listBatches, { tenant, filter, page }),
  events: (tenant, id) => read(eventsOfBatch, { tenant, id }),
  parked: (tenant, filter, limit) => read(parkedBatches, { tenant, filter, limit }),
  replay: (tenant, ids, now) => write(replay, { tenant, ids, now }),
});

interface OneOf {
  readonly tenant: TenantId;
  readonly id: string;
}

const getBatch = asRead('batches.get', batchOf);

function* batchOf(of: OneOf): Script<Batch | null> {
  const text = `${SELECT_BATCHES} WHERE b.tenant = @tenant AND b.id = @id AND ${isStanding('b.lane')}`;
  const row = yield* first<BatchRow>(text, { ...of });
  return row === null ? null : batchFrom(row);
}

interface List {
  readonly tenant: TenantId;
  readonly filter: { readonly state?: BatchState; readonly userId?: string; readonly since?: number };
  readonly page: Page;
}

const listBatches = asRead('batches.list', function* ({ tenant, filter, page }: List): Script<Paged<Batch>> {
  const newest = newestFirst(page, 'b.accepted_at', 'b.id');
  const conditions = where([
    'b.tenant = @tenant',
    isStanding('b.lane'),
    filter.state === undefined ? null : 'b.state = @state',
    filter.userId === undefined ? null : laneOfUser('b.lane'),
    filter.since === undefined ? null : 'b.accepted_at >= @since',
    newest.condition,
  ]);
  const { state = null, userId = null, since = null } = filter;
  const given = { tenant, state, userId, since, ...newest.params };
  const rows = yield* all<BatchRow>(`${SELECT_BATCHES} ${conditions} ${newest.order}`, given);
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.accepted_at, row.id]);
  return { results: results.map(batchFrom), nextCursor };
});

interface Parked {
  readonly tenant: TenantId;
  readonly filter: ParkedFilter;
  readonly limit: number;
}

/** Oldest first. */
const parkedBatches = asRead('batches.parked', function* (of: Parked): Script<readonly Batch[]> {
  const { tenant, filter, limit } = of;
  const { ids = [], lane = null, userId = null, errorCode = null, since = null } = filter;
  const b = filter.ids === undefined ? 'b' : '+b';
  const conditions = where([
    `${b}.tenant = @tenant AND b.state = 'parked'`,
    isStanding('b.lane'),
    filter.ids === undefined ? null : 'b.id IN :ids',
    lane === null ? null : `${b}.lane = @lane`,
    userId === null ? null : laneOfUser(`${b}.lane`),
    errorCode === null ? null : "b.failure->>'code' = @errorCode",
    since === null ? null : 'b.accepted_at >= @since',
  ]);
  const text = `${SELECT_BATCHES} ${conditions} ORDER BY b.accepted_at, b.position, b.id LIMIT @limit`;
  return (yield* all<BatchRow>(text, { tenant, ids, lane, userId, errorCode, since, limit })).map(batchFrom);
});

/** The events that name one of its messages as a source, oldest first. */
const eventsOfBatch = asRead('batches.events', function* (of: OneOf): Script<readonly MemoryEvent[]> {
  const text = `
    SELECT e.* FROM (
      SELECT DISTINCT s.event_seq AS seq FROM messages m JOIN event_sources s ON s.message_id = m.id
      WHERE m.tenant = @tenant AND m.batch_id = @id AND ${isStanding('m.lane')}
    ) AS told JOIN events e ON e.seq = told.seq
    WHERE e.tenant = @tenant ORDER BY e.seq`;
  return (yield* all<EventRow>(text, { ...of })).map(eventFrom);
});

interface Replay {
  readonly tenant: TenantId;
  readonly ids: readonly string[];
  readonly now: number;
}

interface Replayed {
  readonly replayed: readonly string[];
  readonly nudges: readonly Nudge[];
}

const replay = asWrite('batches.replay', waitAgain);

/** Parked batches wait again at their old positions, due now. Others are left alone. */
export function* waitAgain({ tenant, ids, now }: Replay): Script<Replayed> {
  const known = yield* all<FoundRow>('SELECT id, tenant, lane, position, state FROM batches WHERE id IN :ids', { ids });
  const parked = known.filter((row) => row.tenant === tenant && row.state === 'parked');
  const lanes = yield* lockLanes(parked.map(({ lane }) => lane));
  const backfill = replayPriority(parked.length) === 'backfill' ? 1 : 0;
  const rows = yield* all<ReplayedRow>(REPLAY, { ids: parked.map(({ id }) => id), backfill });
  const replayed: string[] = [];
  const nudges: Nudge[] = [];
  for (const lane of lanes) {
    const batches = rows.filter((row) => row.lane === lane.id).toSorted((a, b) => a.position - b.position);
    const last = batches.at(-1);
    if (last === undefined) continue;
    replayed.push(...batches.map(({ id }) => id));
    const step = flush(yield* recounted(lane), last.position, now);
    yield* saveLane(step.lane);
    if (step.nudge !== null) nudges.push(step.nudge);
  }
  return { replayed, nudges };
}

type ReplayedRow = Pick<BatchRow, 'id' | 'lane' | 'position'>;
type FoundRow = ReplayedRow & Pick<BatchRow, 'tenant' | 'state'>;

const REPLAY = `
  UPDATE batches SET state = 'pending', stage = 'waiting', attempts = 0, failure = NULL, claimed_at = NULL,
    consolidation_id = NULL, backfill = (backfill OR @backfill::boolean)
  WHERE id IN :ids AND state = 'parked' RETURNING id, lane, position`;

/** Batches have just become searchable or were parked. */
export function* tellOfBatches(ended: readonly OneOf[], at: number): Script<void> {
  for (const [tenant, batches] of Map.groupBy(ended, (batch) => batch.tenant)) {
    const webhooks = yield* activeWebhooks(tenant);
    if (webhooks.length === 0) continue;
    const found = yield* together(...batches.map(batchOf));
    const notices = found.filter((batch) => batch !== null).map((batch) => batchNotice(batch, at));
    yield* noteDeliveries(webhooks, notices);
  }
}
