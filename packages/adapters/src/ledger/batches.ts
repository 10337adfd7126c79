import type { Batch, BatchState, BatchStore, LaneId, Millis, Nudge, ParkedReason, TenantId } from '@slowwave/engine';
import { batchNotice, ownerAway, ownerOf, replayPriority } from '@slowwave/engine/storing';
import type { AppendedOrAway } from './away.ts';
import { flush } from './lane-life.ts';
import {
  askedFor,
  consolidationIdOf,
  inLanes,
  isLaneStanding,
  LANE_NUMBER,
  type Listing,
  laneIdOf,
  laneOfUser,
  newestFirst,
  notBy,
  where,
} from './page.ts';
import { type BatchRow, batchFrom, SELECT_BATCHES } from './rows/batch.ts';
import { EVENT_COLUMNS, eventFrom } from './rows/memory.ts';
import { type Access, all, allAs, firstAs, read, run, type Script, storeOf, together, write } from './script.ts';
import { projectSpeechAgain } from './speech.ts';
import { lockLanes, recounted, saveLane } from './turn.ts';
import { activeWebhooks, noteDeliveries } from './webhooks.ts';

/** `append`: each ledger gathers appends in its own way. */
export const batchStore = (access: Access, append: AppendOrAway): BatchStore => ({
  ...scripted(access),
  append: async (batch, policy) => {
    const appended = await append(batch, policy);
    if (appended.kind === 'away') throw ownerAway(ownerOf(batch.scope), appended.to);
    return appended;
  },
});

export type AppendOrAway = (...given: Parameters<BatchStore['append']>) => Promise<AppendedOrAway>;

const scripted = storeOf<Omit<BatchStore, 'append'>>('batches', {
  get: read(getBatch),
  list: read((tenant, filter, page) => newestFirst(listingOf(filter), page, { tenant, ...filter })),
  parkedReasons: read((tenant) => all<ParkedReason>(SELECT_REASONS, { tenant })),
  /** The events that name one of its messages as a source, oldest first. */
  events: read((tenant, id) => allAs(eventFrom, SELECT_EVENTS, { tenant, id })),
  /** Oldest first. */
  parked: read((tenant, { ids, ...filter }, limit) => {
    const { conditions, given } = askedFor(ASKED, { tenant, ...filter });
    // Those that are named are found by their ids.
    const those = ids === undefined ? conditions : ['b.id IN :ids', ...conditions.map(notBy)];
    const condition = where(["b.state = 'parked'", NOT_CONSOLIDATED, isLaneStanding('b.lane'), ...those]);
    const text = `${SELECT_BATCHES} ${condition} ORDER BY b.accepted_at, b.position, b.id LIMIT @limit`;
    return allAs(batchFrom, text, { ...given, ids: ids ?? [], limit });
  }),
  replay: write((tenant, ids, now) => waitAgain(tenant, ids, { now })),
});

function getBatch(tenant: TenantId, id: string): Script<Batch | null> {
  const text = `${SELECT_BATCHES} WHERE b.tenant = @tenant AND b.id = @id AND ${isLaneStanding('b.lane')}`;
  return firstAs(batchFrom, text, { tenant, id });
}

const ASKED = {
  tenant: 'b.tenant = @tenant',
  userId: laneOfUser('b.lane', 'number'),
  lane: `b.lane = ${LANE_NUMBER}`,
  errorCode: "b.failure->>'code' = @errorCode",
  since: 'b.accepted_at >= @since',
};

/** As the index of the few says it that are in another state. */
const NOT_CONSOLIDATED = "b.state <> 'consolidated'";

/** Those of one owner in the order of their lane, which is that of its index. */
const listingOf = ({ userId, lane, state }: Parameters<BatchStore['list']>[1]): Listing<BatchRow, Batch> => ({
  select: SELECT_BATCHES,
  by: [userId === undefined && lane === undefined ? 'b.accepted_at' : 'b.position', 'b.id'],
  always: [isLaneStanding('b.lane'), ...(state === undefined || state === 'consolidated' ? [] : [NOT_CONSOLIDATED])],
  asked: { ...ASKED, state: 'b.state = @state' },
  make: batchFrom,
});

const SELECT_REASONS = `
  SELECT b.failure->>'code' AS code, count(*) AS batches, count(DISTINCT b.lane) AS owners,
    max(b.failure->>'message') AS example, min(b.accepted_at) AS "oldestAt", max(b.accepted_at) AS "newestAt"
  FROM batches b WHERE b.tenant = @tenant AND b.state = 'parked' AND ${NOT_CONSOLIDATED} AND ${isLaneStanding('b.lane')}
  GROUP BY b.failure->>'code' ORDER BY count(*) DESC, b.failure->>'code'`;

const SELECT_EVENTS = `
  SELECT ${EVENT_COLUMNS}, k.id AS memory_id FROM (
    SELECT DISTINCT s.event_seq AS seq FROM batches b
    JOIN messages m ON m.batch = b.number JOIN event_sources s ON s.lane = m.lane AND s.message_seq = m.seq
    WHERE b.id = @id AND +b.tenant = @tenant AND ${isLaneStanding('b.lane')}
  ) AS caused JOIN events e ON e.seq = caused.seq JOIN memories k ON k.number = e.memory
  WHERE +k.tenant = @tenant ORDER BY e.seq`;

interface Replayed {
  readonly replayed: readonly string[];
  readonly nudges: readonly Nudge[];
}

/** What can be consolidated again in life. */
const REPLAYABLE: readonly BatchState[] = ['parked', 'undone'];

/** Parked and undone batches wait again at their old positions, due now. Others, and those of cut off lanes, are left alone. */
export function* waitAgain(
  tenant: TenantId,
  ids: readonly string[],
  { now, states = REPLAYABLE }: { readonly now: Millis; readonly states?: readonly BatchState[] },
): Script<Replayed> {
  const named = yield* all<{ lane: LaneId }>(SELECT_LANES, { tenant, ids, states });
  const lanes = (yield* lockLanes(named.map(({ lane }) => lane))).filter(({ erasure }) => erasure === null);
  const found = yield* all<ReplayableRow>(SELECT_REPLAYABLE, { ids, states, lanes: lanes.map(({ id }) => id) });
  yield* putBack(found, now);
  const replayed: string[] = [];
  const nudges: Nudge[] = [];
  for (const lane of lanes) {
    const batches = found.filter((row) => row.lane === lane.id);
    const last = batches.at(-1);
    if (last === undefined) continue;
    replayed.push(...batches.map(({ id }) => id));
    const step = flush(yield* recounted(lane), last.position, now);
    yield* saveLane(step.lane);
    if (step.nudge !== null) nudges.push(step.nudge);
  }
  return { replayed, nudges };
}

type ReplayableRow = Pick<BatchRow, 'id' | 'lane' | 'position' | 'state' | 'consolidation_id' | 'formers'>;

const SELECT_LANES = `
  SELECT ${laneIdOf('lane')} AS lane FROM batches WHERE id IN :ids AND +tenant = @tenant AND +state IN :states`;

/** Under the locks of their lanes. What retention has emptied has nothing left to consolidate. */
const SELECT_REPLAYABLE = `
  SELECT id, ${laneIdOf('lane')} AS lane, position, state, ${consolidationIdOf('consolidation')} AS consolidation_id, formers
  FROM batches
  WHERE id IN :ids AND ${inLanes('lane + 0')} AND +state IN :states AND stripped_at IS NULL ORDER BY position`;

/** As if they had just been accepted: of what was undone an index forgets what was said, if it has not yet. */
function* putBack(found: readonly ReplayableRow[], now: Millis): Script<void> {
  const backfill = replayPriority(found.length) === 'backfill' ? 1 : 0;
  yield* run(WAIT, { ids: found.map(({ id }) => id), backfill });
  const undone = found.filter(({ state }) => state === 'undone');
  const rows = undone.map(({ id, consolidation_id: former, formers }) => ({
    id,
    formers: JSON.stringify([...JSON.parse(formers), former]),
  }));
  if (rows.length === 0) return;
  yield* run(FORGET_OUTCOME, { rows });
  const ids = rows.map(({ id }) => id);
  yield* projectSpeechAgain(ids, now);
}

const WAIT = `
  UPDATE batches SET state = 'pending', stage = 'waiting', attempts = 0, failure = NULL, claimed_at = NULL,
    consolidation = NULL, backfill = (backfill OR @backfill::boolean)
  WHERE id IN :ids`;

const FORGET_OUTCOME = `
  UPDATE batches SET outcome = NULL, applied_at = NULL, searchable_at = NULL, formers = n.formers::jsonb
  FROM (SELECT value ->> 'id' AS id, value ->> 'formers' AS formers FROM :rows AS r) AS n
  WHERE batches.id = n.id`;

/** Notes the notices of batches that have just become searchable or were parked. */
export function* notifyOfBatches(
  ended: readonly { readonly tenant: TenantId; readonly id: string }[],
  at: number,
): Script<void> {
  for (const [tenant, batches] of Map.groupBy(ended, (batch) => batch.tenant)) {
    const webhooks = yield* activeWebhooks(tenant);
    if (webhooks.length === 0) continue;
    const found = yield* together(...batches.map(({ id }) => getBatch(tenant, id)));
    const notices = found.filter((batch) => batch !== null).map((batch) => batchNotice(batch, at));
    yield* noteDeliveries(webhooks, notices);
  }
}
