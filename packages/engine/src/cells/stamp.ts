/**
 * What an owner was when its lines were read, in two parts: what is promised to be kept, and its receipts, which are not. Whoever moves it names
 * both; only if somebody asks again and again, so that it would never leave, the first alone.
 */
const BETWEEN = '.';

export const stampWith = (promised: string, receipts: string): string => `${promised}${BETWEEN}${receipts}`;

export const promisedBy = (stamp: string): string => stamp.split(BETWEEN, 1)[0] ?? stamp;

/** Whether an owner is still what a stamp says of it. */
export const isStill = (stamp: string, now: string): boolean =>
  stamp === (stamp.includes(BETWEEN) ? now : promisedBy(now));
