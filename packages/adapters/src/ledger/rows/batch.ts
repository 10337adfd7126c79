import type {
  Batch,
  BatchSettings,
  LaneId,
  MarkedTrust,
  Message,
  Millis,
  NewBatch,
  NewMessage,
} from '@slowwave/engine';
import { messageIdOf, placeOfMessage, saidWhen } from '@slowwave/engine/storing';
import { laneIdOf } from '../page.ts';
import { LANE_MESSAGE, messageId, PLACES } from '../schema.ts';
import { type ColumnsOf, leanFrom, leanText, type ScopeColumns, scopeFrom } from './columns.ts';

export interface BatchRow
  extends ColumnsOf<Omit<Batch, 'scope' | 'priority' | 'stage'>, 'settings' | 'metadata' | 'failure' | 'failures'>,
    ScopeColumns {
  readonly backfill: 0 | 1;
  readonly reached: Batch['stage'];
  readonly formers: string;
}

/** How far the thinking is: what is stored of it says that. */
const REACHED = `
  CASE WHEN b.stage <> 'extract' THEN b.stage
    WHEN EXISTS (SELECT 1 FROM plans p WHERE p.consolidation_id = c.id) THEN 'apply'
    WHEN EXISTS (SELECT 1 FROM answers a WHERE a.consolidation_id = c.id AND a.step LIKE 'extract%')
      THEN 'decide'
    ELSE 'extract' END AS reached`;

/** Batches with their scope's columns; add a WHERE on `b`. */
export const SELECT_BATCHES = `
  SELECT b.*, ${laneIdOf('b.lane')} AS lane, c.id AS consolidation_id, s.user_id, s.agent_id, s.run_id, s.app_id, ${REACHED}
  FROM batches b JOIN scopes s ON s.id = b.scope LEFT JOIN consolidations c ON c.number = b.consolidation`;

export const batchFrom = (row: BatchRow): Batch => ({
  id: row.id,
  tenant: row.tenant,
  lane: row.lane,
  scope: scopeFrom(row),
  settings: settingsFrom(row.settings),
  metadata: JSON.parse(row.metadata),
  position: row.position,
  priority: row.backfill === 1 ? 'backfill' : 'live',
  state: row.state,
  stage: row.reached,
  attempts: row.attempts,
  failure: row.failure === null ? null : JSON.parse(row.failure),
  failures: JSON.parse(row.failures),
  consolidationId: row.consolidation_id,
  messageCount: row.message_count,
  acceptedAt: row.accepted_at,
  claimedAt: row.claimed_at,
  appliedAt: row.applied_at,
  searchableAt: row.searchable_at,
});

/** Of nearly all batches. */
const USUAL_SETTINGS = { mode: 'decide', instructions: null, includes: null, excludes: null, expiresAt: null } as const;

export const settingsFrom = (text: string): BatchSettings => leanFrom<BatchSettings>(text, USUAL_SETTINGS);

/** Equal for equal settings only: keys in a fixed order. */
const settingsText = (settings: BatchSettings): string =>
  leanText<BatchSettings>(
    {
      mode: settings.mode,
      instructions: settings.instructions,
      includes: settings.includes,
      excludes: settings.excludes,
      expiresAt: settings.expiresAt,
      ...(settings.categories !== undefined && { categories: settings.categories }),
      ...(settings.graph !== undefined && { graph: settings.graph }),
      ...(settings.window !== undefined && { window: settings.window }),
      ...(settings.ownAppOnly && { ownAppOnly: settings.ownAppOnly }),
    },
    USUAL_SETTINGS,
  );

/** A batch as a ledger takes it. */
export interface Posted {
  readonly batch: Omit<NewBatch, 'messages'>;
  readonly messageCount: number;
  readonly exchanges: number;
  /** One value, as JSON; or what becomes rows at once: what is long, and what others are compared with by the callers' ids. */
  readonly messages: string | readonly NewMessage[];
}

/** A batch as it is accepted, at the end of its lane. */
export const newBatchColumns = (
  { batch, messageCount, exchanges }: Posted,
  place: { lane: number; scope: number; position: number },
) => ({
  id: batch.id,
  tenant: batch.tenant,
  lane: place.lane,
  scope: place.scope,
  settings: settingsText(batch.settings),
  metadata: JSON.stringify(batch.metadata),
  position: place.position,
  tokens: batch.tokens,
  exchanges,
  state: 'pending',
  stage: 'waiting',
  attempts: 0,
  message_count: messageCount,
  backfill: batch.priority === 'backfill' ? 1 : 0,
  key_id: batch.keyId ?? null,
  accepted_at: batch.acceptedAt,
});

export interface MessageRow extends ColumnsOf<Omit<Message, 'saidAt' | 'clock' | 'trust' | 'hidden'>, 'content'> {
  readonly trust: MarkedTrust | null;
  /** What was said, where the content does not show all of it. */
  readonly unhidden: string | null;
  readonly seq: number;
  readonly said_at: number;
  /** Both or none: what the speaker's clock showed, and how many minutes it was ahead of UTC. */
  readonly clock_at: number | null;
  readonly utc_offset: number | null;
}

export const messageFrom = (row: MessageRow): Message => ({
  id: row.id,
  batchId: row.batch_id,
  clientId: row.client_id,
  role: row.role,
  content: JSON.parse(row.content),
  name: row.name,
  ...(row.trust !== null && { trust: row.trust }),
  saidAt: { at: row.said_at, seq: row.seq },
  ...clockFrom(row),
  resent: row.resent === 1,
  ...(row.unhidden !== null && { hidden: true as const }),
});

/** Nothing where none is kept. */
export const clockFrom = ({
  clock_at,
  utc_offset,
}: Pick<MessageRow, 'clock_at' | 'utc_offset'>): Pick<Message, 'clock'> =>
  clock_at === null || utc_offset === null ? {} : { clock: { at: clock_at, offset: utc_offset } };

/** As a message is stored: it knows lane and batch by their numbers. */
export const storedMessage = (
  { tenant: _tenant, lane: _lane, batch_id: batchId, ...columns }: ReturnType<typeof newMessageColumns>,
  { lane, batch }: { readonly lane: number; readonly batch: number },
) => ({ ...columns, ...keptId(columns.id, batchId), lane, batch });

/** A message of a batch that is being accepted. */
export function newMessageColumns(
  message: NewMessage,
  batch: Pick<NewBatch, 'id' | 'tenant' | 'acceptedAt'>,
  place: Place,
) {
  const said = saidWhen(message, { acceptedAt: batch.acceptedAt, seenUntil: place.seenUntil });
  return {
    id: message.id,
    tenant: batch.tenant,
    lane: place.lane,
    scope: place.scope,
    batch_id: batch.id,
    seq: place.seq,
    client_id: message.clientId,
    role: message.role,
    content: JSON.stringify(message.content),
    name: message.name,
    trust: message.trust ?? null,
    said_at: said.at,
    clock_at: said.clock?.at ?? null,
    utc_offset: said.clock?.offset ?? null,
    resent: place.resent ? 1 : 0,
  };
}

/** The message that a row of these columns is, as it was just stored. */
export const messageAsKept = (columns: ReturnType<typeof newMessageColumns>): Message =>
  messageFrom({ ...columns, unhidden: null } as MessageRow);

interface Place {
  readonly lane: LaneId;
  readonly scope: number;
  readonly seq: number;
  readonly resent: boolean;
  /** How far the lane has seen the clock. */
  readonly seenUntil: Millis;
}

/**
 * The id of a message follows from that of its batch and its place there, and is kept only where it does not: as ids of a caller or of a
 * test may not. So a message is looked up by its batch.
 */

/** What is kept of an id: itself, or the place in the batch. */
export function keptId(id: string, batchId: string): { readonly id: string | null; readonly place: number | null } {
  const named = placeOfMessage(id);
  const follows = named?.batchId === batchId && named.place < PLACES && messageIdOf(batchId, named.place) === id;
  return follows ? { id: null, place: named.place } : { id, place: null };
}

/** What the statements below need to be given. */
export const naming = (ids: readonly string[]) => ({
  ids,
  batchesOf: [...new Set(ids.flatMap((id) => placeOfMessage(id)?.batchId ?? []))],
});

/**
 * Messages that are given by their ids, as lane_messages has them. They are found first: PostgreSQL would go through all that is said in
 * the lanes of a young table, and go on so while it grows.
 */
export const NAMED_MESSAGES = `(
  WITH named AS MATERIALIZED (SELECT * FROM messages WHERE number IN FEW (
    SELECT own.number FROM messages own WHERE own.id IN :ids
    UNION ALL SELECT those.number FROM messages those
      WHERE those.batch IN FEW (SELECT number FROM batches WHERE id IN :batchesOf;);))
  SELECT ${LANE_MESSAGE} FROM named m JOIN batches b ON b.number = m.batch JOIN lanes l ON l.number = m.lane
  WHERE ${messageId('m', 'b')} IN :ids)`;

/** The id of the message that meets a condition on `o`. */
export const idOfMessage = (condition: string): string =>
  `(SELECT ${messageId('o', 'ob')} FROM messages o JOIN batches ob ON ob.number = o.batch WHERE ${condition})`;
