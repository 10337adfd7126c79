import type { Appended, LaneId, Millis, NewBatch, NewMessage, Pause, TenantId } from '@slowwave/engine';
import { exchangesIn, heard, ownerBitsIn, ownerDigits } from '@slowwave/engine/storing';
import { inLanes, LANE_NUMBER, laneIdOf } from './page.ts';
import { type MessageRow, newMessageColumns, type Posted } from './rows/batch.ts';
import { all, idsOf, type Script } from './script.ts';

/**
 * What batches say that nobody has claimed yet. All of a batch is one value, which its first claim turns into rows of messages: an
 * acknowledgement waits for one row instead of one for each message, with all their indexes. Whoever reads messages that may not
 * be claimed yet reads them here besides.
 */

/** Readers take a value as a whole, however few of its messages they want. */
const VALUE_CHARACTERS_MAX = 64_000;

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
  const near = yield* idsOf<LaneId>(SELECT_LANES, { tenant, digits });
  const lanes = near.filter((lane) => owners.has(ownerBitsIn(lane) ?? (-1 as never)));
  if (lanes.length === 0) return [];
  const wanted = new Set(ids);
  const rows = yield* all<UnclaimedRow>(`${SELECT_UNCLAIMED} AND ${inLanes('b.lane')}`, { lanes });
  return messageRowsOf(rows).filter(({ id }) => wanted.has(id));
}

/** Of the digits of an id that name its owner those that have nothing else in them, and where they begin in the id of a lane. */
const OWNER_DIGITS = 3;
const OWNER_PLACE = 'lane_'.length + 14 + 1;

const SELECT_LANES = `
  SELECT id FROM lanes INDEXED BY lanes_with_work
  WHERE state <> 'idle' AND +tenant = @tenant AND erasure IS NULL AND substr(id, ${OWNER_PLACE}, ${OWNER_DIGITS}) IN :digits`;
