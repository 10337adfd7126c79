/** How many connections each part of a process may hold at most; together no more than the process. */
export interface Shares {
  readonly ledger: number;
  readonly queue: number;
  readonly limits: number;
}

/** A step of the limiter takes a millisecond: more would only wait for each other's locks. */
const LIMITS_MAX = 4;
const LIMITS_PART = 6;
/** Four workers listen on one each, for as long as they run; the others ask. */
const QUEUE_MIN = 7;

/** With a queue elsewhere all of them are the ledger's. */
export function sharesOf(connections: number, queueIsHere: boolean): Shares {
  if (!queueIsHere) return { ledger: connections, queue: 0, limits: 0 };
  const limits = Math.min(LIMITS_MAX, Math.floor(connections / LIMITS_PART));
  const queue = Math.max(QUEUE_MIN, Math.floor((connections - limits) / 2));
  return { ledger: connections - limits - queue, queue, limits };
}
