import type { Tools } from '@slowwave/engine';

/** Writes a second of one process, on average: of receipts these are up to 700 MB a day. */
export const PER_SECOND = 20;
/** How many there may be at once. */
export const AT_ONCE = 200;

const SECOND_MS = 1_000;

/** Whether one more of what answers have written beside them is within the rate: receipts, and what conversations were told. */
export function besideRate({ now }: Pick<Tools, 'now'>): () => boolean {
  let left = AT_ONCE;
  let last = now();
  return () => {
    const at = now();
    // A clock that is set back brings nothing.
    left = Math.min(AT_ONCE, left + (Math.max(0, at - last) / SECOND_MS) * PER_SECOND);
    last = at;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
