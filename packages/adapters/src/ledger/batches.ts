import type {
  Appended,
  Batch,
  BatchState,
  BatchStore,
  DuePolicy,
  LaneId,
  Millis,
  NewBatch,
  NewMessage,
  Nudge,
  ParkedReason,
  Pause,
  TenantId,
} from '@slowwave/engine';
import {
  batchNotice,
  exchangesIn,
  heard,
  ownerAway,
  ownerBitsIn,
  ownerDigits,
  ownerOf,
  replayPriority,
} from '@slowwave/engine/storing';
import type { AppendedOrAway } from './away.ts';
import { flush } from './lane-life.ts';
import {
  consolidationIdOf,
  inLanes,
  isLaneStanding,
  LANE_NUMBER,
  type Listing,
  laneIdOf,
  laneOfUser,
  newestFirst,
} from './page.ts';
import {
  type BatchRow,
  batchFrom,
  type MessageRow,
  newMessageColumns,
  type Posted,
  SELECT_BATCHES,
} from './rows/batch.ts';
import { EVENT_COLUMNS, eventFrom } from './rows/memory.ts';
import { type Access, all, allAs, firstAs, idsOf, read, run, type Script, storeOf, together } from './script.ts';
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

/**
 * What batches say that nobody has claimed yet. All of a batch is one value, which its first claim turns into rows of messages: an
 * acknowledgement waits for one row instead of one for each message, with all their indexes. Whoever reads messages that may not
 * be claimed yet reads them here besides.
 */

/** Readers take a value as a whole, however few of its messages they want. */
const VALUE_CHARACTERS_MAX = 64_000;

/** A batch on its way to the ledger. */
export interface Append {
  readonly posted: Posted;
  readonly policy: DuePolicy;
  /** The id of the owner's lane, if it has none yet. */
  readonly newLaneId: LaneId;
}

/** Made by the thread that answers requests, so that the one that writes has little to do and is sent little. */
export function postedFrom({ messages, ...batch }: NewBatch): Posted {
  const posted = { batch, messageCount: messages.length, exchanges: exchangesIn({ messages }) };
  if (messages.some(({ clientId }) => clientId !== null)) return { ...posted, messages };
  const value = JSON.stringify(messages);
  return { ...posted, messages: value.length > VALUE_CHARACTERS_MAX ? messages : value };
}

type Paused = Extract<Appended, { kind: 'stored' }>['paused'];

/** As much of it as its owner wants remembered. */
export function keptOf(posted: Posted, pauses: readonly Pause[]): { readonly posted: Posted; readonly paused: Paused } {
  if (pauses.length === 0) return { posted, paused: 'none' };
  const { messages, batch } = posted;
  const given = typeof messages === 'string' ? (JSON.parse(messages) as readonly NewMessage[]) : messages;
  const kept = heard({ ...batch, messages: given }, pauses);
  return kept.paused === 'none' ? { posted, paused: 'none' } : { posted: postedFrom(kept.batch), paused: kept.paused };
}

/** The row of a batch whose messages are one value, at the end of its lane. */
export const unclaimedColumns = (
  { batch }: Posted,
  messages: string,
  { seq, seenUntil }: { readonly seq: number; readonly seenUntil: Millis },
) => ({ batch_id: batch.id, seq, seen_until: seenUntil, messages });

/** A row of it, with what its batch knows. */
export interface UnclaimedRow {
  readonly batch_id: string;
  readonly seq: number;
  readonly seen_until: number;
  readonly messages: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly scope: number;
  readonly accepted_at: number;
}

/** The rows of messages that it becomes. */
export function messageColumnsOf(row: UnclaimedRow): ReturnType<typeof newMessageColumns>[] {
  const { batch_id: id, tenant, lane, scope } = row;
  const batch = { id, tenant, acceptedAt: row.accepted_at };
  const place = { lane, scope, seenUntil: row.seen_until, resent: false };
  const messages = JSON.parse(row.messages) as readonly NewMessage[];
  return messages.map((message, i) => newMessageColumns(message, batch, { ...place, seq: row.seq + i }));
}

/** A message that is not claimed yet, as a reader of rows knows it. */
export interface WaitingMessageRow extends MessageRow {
  readonly lane: LaneId;
  readonly scope: number;
}

export const messageRowsOf = (rows: readonly UnclaimedRow[]): readonly WaitingMessageRow[] =>
  rows.flatMap((row) => messageColumnsOf(row).map((columns) => ({ ...columns, unhidden: null }) as WaitingMessageRow));

/** Of batches `b`. */
export const UNCLAIMED_COLUMNS = `u.batch_id, u.seq, u.seen_until, u.messages, b.tenant, ${laneIdOf('b.lane')} AS lane, b.scope, b.accepted_at`;

/** Batches `b` that wait and were never claimed; add a condition. */
export const SELECT_UNCLAIMED = `
  SELECT ${UNCLAIMED_COLUMNS} FROM batches b JOIN unclaimed_messages u ON u.batch_id = b.id WHERE b.state = 'pending'`;

/** The messages of a lane that are not claimed yet, behind a place and up to another one, in the order of the lane. */
export function* unclaimedOf(
  lane: LaneId,
  { after, upTo = Number.MAX_SAFE_INTEGER, limit }: { after: number; upTo?: number; limit: number },
): Script<readonly WaitingMessageRow[]> {
  const rows = yield* all<UnclaimedRow>(SELECT_OF_LANE, { lane, after, upTo, limit });
  return messageRowsOf(rows)
    .filter(({ seq }) => seq > after && seq <= upTo)
    .slice(0, limit);
}

const SELECT_OF_LANE = `${SELECT_UNCLAIMED} AND b.lane = ${LANE_NUMBER}
  AND u.seq + b.message_count > @after AND u.seq <= @upTo ORDER BY b.position LIMIT @limit`;

/** Messages of a lane by their places, of which some are rows and others not yet. */
export const inOrder = <Row extends { readonly seq: number }>(
  rows: readonly Row[],
  waiting: readonly Row[],
  limit: number,
): readonly Row[] =>
  waiting.length === 0 ? rows : [...rows, ...waiting].sort((a, b) => a.seq - b.seq).slice(0, limit);

/**
 * Those of these messages that are not claimed yet. Their ids say whose they are, as those of lanes do: only what waits of these
 * owners is read.
 */
export function* unclaimedNamed(tenant: TenantId, ids: readonly string[]): Script<readonly WaitingMessageRow[]> {
  const owners = new Set(ids.flatMap((id) => ownerBitsIn(id) ?? []));
  if (owners.size === 0) return [];
  const digits = [...owners].map((bits) => ownerDigits(bits, '0').slice(0, OWNER_DIGITS));
  const near = yield* idsOf<LaneId>(SELECT_LANES_BY_BITS, { tenant, digits });
  const lanes = near.filter((lane) => owners.has(ownerBitsIn(lane) ?? (-1 as never)));
  if (lanes.length === 0) return [];
  const wanted = new Set(ids);
  const rows = yield* all<UnclaimedRow>(`${SELECT_UNCLAIMED} AND ${inLanes('b.lane')}`, { lanes });
  return messageRowsOf(rows).filter(({ id }) => wanted.has(id));
}

/** Of the digits of an id that name its owner those that have nothing else in them, and where they begin in the id of a lane. */
const OWNER_DIGITS = 3;
const OWNER_PLACE = 'lane_'.length + 14 + 1;

const SELECT_LANES_BY_BITS = `
  SELECT id FROM lanes INDEXED BY lanes_with_work
  WHERE state <> 'idle' AND +tenant = @tenant AND erasure IS NULL AND substr(id, ${OWNER_PLACE}, ${OWNER_DIGITS}) IN :digits`;
