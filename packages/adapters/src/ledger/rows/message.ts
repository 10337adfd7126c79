import type { LaneId, Message, NewBatch, NewMessage } from '@slowwave/engine';

export interface MessageRow {
  readonly id: string;
  readonly batch_id: string;
  readonly seq: number;
  readonly client_id: string | null;
  readonly role: Message['role'];
  readonly content: string;
  readonly name: string | null;
  readonly said_at: number;
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
  resent: row.resent === 1,
});

/** A message of a batch that is being accepted. */
export const newMessageColumns = (
  message: NewMessage,
  batch: NewBatch,
  place: { lane: LaneId; scope: number; seq: number; resent: boolean },
) => ({
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
  said_at: message.at ?? batch.acceptedAt,
  resent: place.resent ? 1 : 0,
});
