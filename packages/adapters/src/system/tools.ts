import { createHash, randomFillSync } from 'node:crypto';
import type { IdKind, Tools } from '@slowwave/engine';

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_DIGITS = 10; // 50 bits of milliseconds: enough for the next 35,000 years
const COUNT_DIGITS = 4; // 20 bits: half of them are left to count with, more than are made in a millisecond
const RANDOM_DIGITS = 12; // 60 bits beside the count: no collisions between processes

/** The system clock, random ids that sort in the order in which a process makes them, and SHA-256. */
export const systemTools: Tools = {
  now: () => Date.now(),
  id: (kind: IdKind) => `${kind}_${orderedPart(Date.now())}${drawn(RANDOM_DIGITS)}`,
  breathe,
  hash: (text) => createHash('sha256').update(text).digest('hex'),
};

let last = { at: -1, digits: '', count: 0 };

/**
 * The time, and a count that begins anywhere in each millisecond. What is made at once, as the memories of one consolidation
 * are, keeps its order: lists by time and id depend on it.
 */
function orderedPart(at: number): string {
  last =
    at === last.at
      ? { ...last, count: last.count + 1 }
      : { at, digits: timeDigits(at), count: numberOf(drawn(COUNT_DIGITS)) % COUNT_FIRST };
  return `${last.digits}${digitsOf(last.count, COUNT_DIGITS)}`;
}

const COUNT_FIRST = 32 ** COUNT_DIGITS / 2;

const numberOf = (digits: string): number => [...digits].reduce((sum, digit) => sum * 32 + CROCKFORD.indexOf(digit), 0);

const timeDigits = (at: number): string => digitsOf(at, TIME_DIGITS);

function digitsOf(number: number, length: number): string {
  let digits = '';
  for (let rest = number, i = 0; i < length; i += 1, rest = Math.floor(rest / 32)) {
    digits = (CROCKFORD[rest % 32] ?? '0') + digits;
  }
  return digits;
}

/** Ids whose random digits are drawn in one go: a draw costs more than all the rest of an id. */
const IDS_DRAWN = 256;
const pool = Buffer.alloc(RANDOM_DIGITS * IDS_DRAWN);
let used = pool.length;

function drawn(digits: number): string {
  if (used + digits > pool.length) draw();
  const from = used;
  used += digits;
  return pool.toString('latin1', from, used);
}

/** Fills the pool with random digits. */
function draw(): void {
  randomFillSync(pool);
  for (let i = 0; i < pool.length; i += 1) pool[i] = CROCKFORD.charCodeAt((pool[i] ?? 0) % CROCKFORD.length);
  used = 0;
}

/** How long one piece of work may keep the event loop: with what others do in between, answers stay under 10 ms late. */
const TURN_MS = 4;

const waiting: (() => void)[] = [];
let turnBegan = 0;

/**
 * Waits for a turn of the event loop where the last one was over TURN_MS ago; else goes on at once. Of many that wait, one
 * goes on in each turn: what came in meanwhile is answered in between.
 */
export function breathe(): Promise<void> {
  if (performance.now() - turnBegan < TURN_MS) return Promise.resolve();
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(nextTurn);
  });
}

function nextTurn(): void {
  turnBegan = performance.now();
  const next = waiting.shift();
  if (waiting.length > 0) setImmediate(nextTurn);
  next?.();
}
