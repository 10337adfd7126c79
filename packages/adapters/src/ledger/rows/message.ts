import type { Message } from '@slowwave/engine';

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
