/** How many texts go into one request: learnt from how long requests take, for the life of the process. */
export interface Pace {
  texts(): number;
  /** A request of so many texts was answered after so long. */
  took(texts: number, ms: number): void;
  timedOut(texts: number): void;
}

/** Few enough for a small model on a processor: a request that times out is work for nobody. */
const TEXTS_FIRST = 16;
/** More would hardly be faster anywhere, and lose more when a request fails. */
const TEXTS_MAX = 64;
/** Of the time that a request has: twice as many would still be in time if the server got busier meanwhile. */
const QUICK = 1 / 8;
/** Here the next request is made smaller before it is too late. */
const SLOW = 1 / 2;

export function paceWithin(timeoutMs: number): Pace {
  let texts = TEXTS_FIRST;
  const halve = (count: number): void => {
    texts = Math.max(1, Math.min(texts, Math.floor(count / 2)));
  };
  return {
    texts: () => texts,
    took: (count, ms) => {
      if (ms > SLOW * timeoutMs) halve(count);
      else if (ms < QUICK * timeoutMs && count >= texts) texts = Math.min(TEXTS_MAX, 2 * texts);
    },
    timedOut: halve,
  };
}
