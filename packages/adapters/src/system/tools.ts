import { createHash, randomFillSync } from 'node:crypto';
import type { IdKind, Tools } from '@slowwave/engine';
import { breathe } from './breathe.ts';

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_DIGITS = 10; // 50 bits of milliseconds: enough for the next 35,000 years
const RANDOM_DIGITS = 16; // 80 bits: no collisions between processes

/** The system clock, random ids that sort by time, and SHA-256. */
export const systemTools: Tools = {
  now: () => Date.now(),
  id: (kind: IdKind) => `${kind}_${timePart(Date.now())}${randomPart()}`,
  breathe,
  hash: (text) => createHash('sha256').update(text).digest('hex'),
};

let lastTime = { now: -1, digits: '' };

/** Ids are made several at a time, most of them in the same millisecond. */
function timePart(now: number): string {
  if (now !== lastTime.now) lastTime = { now, digits: timeDigits(now) };
  return lastTime.digits;
}

function timeDigits(now: number): string {
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
  if (used === pool.length) draw();
  const from = used;
  used += RANDOM_DIGITS;
  return pool.toString('latin1', from, used);
}

/** Fills the pool with random digits. */
function draw(): void {
  randomFillSync(pool);
  for (let i = 0; i < pool.length; i += 1) pool[i] = CROCKFORD.charCodeAt((pool[i] ?? 0) % CROCKFORD.length);
  used = 0;
}
