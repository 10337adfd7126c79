import { createHash, randomFillSync } from 'node:crypto';
import type { IdKind, Tools } from '@slowwave/engine';

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_DIGITS = 10; // 50 bits of milliseconds: enough for the next 35,000 years
const RANDOM_DIGITS = 16; // 80 bits: no collisions between processes

/** The system clock, random ids that sort by time, and SHA-256. */
export const systemTools: Tools = {
  now: () => Date.now(),
  id: (kind: IdKind) => `${kind}_${timePart(Date.now())}${randomPart()}`,
  hash: (text) => createHash('sha256').update(text).digest('hex'),
};

function timePart(now: number): string {
  let digits = '';
  for (let rest = now, i = 0; i < TIME_DIGITS; i += 1, rest = Math.floor(rest / 32)) {
    digits = (CROCKFORD[rest % 32] ?? '0') + digits;
  }
  return digits;
}

/** Ids whose random digits are drawn in one go: a draw costs more than all the rest of an id. */
const IDS_DRAWN = 256;
const pool = Buffer.alloc(RANDOM_DIGITS * IDS_DRAWN);
let used = pool.length;

function randomPart(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const end = used + RANDOM_DIGITS;
  let digits = '';
  for (; used < end; used += 1) digits += CROCKFORD[(pool[used] ?? 0) % 32];
  return digits;
}
