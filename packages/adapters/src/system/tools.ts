import { createHash, randomBytes } from 'node:crypto';
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

function randomPart(): string {
  return Array.from(randomBytes(RANDOM_DIGITS), (byte) => CROCKFORD[byte % 32]).join('');
}
