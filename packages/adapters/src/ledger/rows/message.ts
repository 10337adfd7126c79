import type { LaneId, Message, Millis, NewBatch, NewMessage } from '@slowwave/engine';
import { saidWhen } from '@slowwave/engine/storing';

export interface MessageRow {
  readonly id: string;
  readonly batch_id: string;
  readonly seq: number;
  readonly client_id: string | null;
  readonly role: Message['role'];
  readonly content: string;
  readonly name: string | null;
  readonly said_at: number;
  /** Both or none: what the speaker's clock showed, and how many minutes it was ahead of UTC. */
  readonly clock_at: number | null;
  readonly utc_offset: number | null;
  readonly resent: 0 | 1;
}

export const messageFrom = (row: MessageRow): Message => ({
  id: row.id,
  batchId: row.batch_id,
  clientId: row.client_id,
  role: row.role,
  content: JSON.parse(row.content),
  name: row.name,
  saidAt: { at: row.said_at, seq: row.seq },
  ...clockFrom(row),
  resent: row.resent === 1,
});

/** Nothing where none is kept. */
export const clockFrom = ({
  clock_at,
  utc_offset,
}: Pick<MessageRow, 'clock_at' | 'utc_offset'>): Pick<Message, 'clock'> =>
  clock_at === null || utc_offset === null ? {} : { clock: { at: clock_at, offset: utc_offset } };

/** A message of a batch that is being accepted. */
export function newMessageColumns(message: NewMessage, batch: NewBatch, place: Place) {
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
    said_at: said.at,
    clock_at: said.clock?.at ?? null,
    utc_offset: said.clock?.offset ?? null,
    resent: place.resent ? 1 : 0,
  };
}

interface Place {
  readonly lane: LaneId;
  readonly scope: number;
  readonly seq: number;
  readonly resent: boolean;
  /** How far the lane has seen the clock. */
  readonly seenUntil: Millis;
}
