import type { SaidMessage } from '@slowwave/engine';
import { type MessageRow, messageFrom } from './rows/message.ts';

/** A message and the id of the one before it. */
export type SaidRow = MessageRow & { readonly before_id: string | null };

/** Of each message `m` the last earlier one of its scope that a person or an assistant said: written so that both kinds of ledger read it. */
export const BEFORE = `(
    SELECT p.id FROM messages p
    WHERE p.scope = m.scope AND p.seq < m.seq AND NOT p.resent AND p.role IN ('user', 'assistant')
    ORDER BY p.seq DESC LIMIT 1
  ) AS before_id`;

/** `before` are the messages that rows name, where they are not among the rows. */
export function saidFrom(rows: readonly SaidRow[], before: readonly MessageRow[]): readonly SaidMessage[] {
  const messages = new Map([...before, ...rows].map((row) => [row.id, messageFrom(row)]));
  return rows.flatMap((row) => {
    const message = messages.get(row.id);
    const prior = row.before_id === null ? null : (messages.get(row.before_id) ?? null);
    return message === undefined ? [] : [{ message, before: prior }];
  });
}

/** The messages to be read besides. */
export function beforeIds(rows: readonly SaidRow[]): string[] {
  const known = new Set(rows.map(({ id }) => id));
  return [...new Set(rows.flatMap(({ before_id }) => before_id ?? []))].filter((id) => !known.has(id));
}
