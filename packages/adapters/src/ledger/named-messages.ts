import { messageIdOf, placeOfMessage } from '@slowwave/engine/storing';
import { LANE_MESSAGE, messageId, PLACES } from './schema.ts';

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
