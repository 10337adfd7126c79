/** What is said beside a message in its scope: parts of statements about messages `m`. */

/** A user or an assistant said message `p`. */
export const SPOKEN = `NOT p.resent AND p.role IN ('user', 'assistant')`;

/** Of each message `m` the last earlier one of its scope that a user or an assistant said. */
export const PRIOR_SEQ = `(SELECT max(p.seq) FROM messages p WHERE p.scope = m.scope AND p.seq < m.seq AND ${SPOKEN})`;

/** The next one. */
export const NEXT_SEQ = `(SELECT min(p.seq) FROM messages p WHERE p.scope = m.scope AND p.seq > m.seq AND ${SPOKEN})`;

/** The next but one. */
export const SECOND_SEQ = `(
    SELECT p.seq FROM messages p WHERE p.scope = m.scope AND p.seq > m.seq AND ${SPOKEN} ORDER BY p.seq LIMIT 1 OFFSET 1)`;

/** What batches `b` say is found. */
export const COUNTS = `b.outcome IS NOT NULL AND b.state <> 'undone' AND b.stripped_at IS NULL`;

/** What is said beside `m` at a place of its scope, if it is found: nothing is found by words of a batch that does not count. */
const besideAt = (seq: string): string => `(
    SELECT p.number FROM messages p JOIN batches b ON b.number = p.batch
    WHERE p.scope = m.scope AND p.seq = ${seq} AND ${COUNTS}
  )`;
export const BEFORE = `${besideAt(PRIOR_SEQ)} AS before`;
export const NEXT = `${besideAt(NEXT_SEQ)} AS next`;
