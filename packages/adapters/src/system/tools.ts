import { hash, randomFillSync } from 'node:crypto';
import type { IdKind, OwnerBits, Tools } from '@slowwave/engine';
import { digitsOf, ID_ALPHABET, numberOf, ownerDigits } from '@slowwave/engine/storing';

const TIME_DIGITS = 10; // 50 bits of milliseconds: enough for the next 35,000 years
const COUNT_DIGITS = 4; // 20 bits: half of them are left to count with, more than are made in a millisecond
const OWNER_DIGITS = 4; // 16 bits of the owner's hash, where there is one; 4 random ones
const RANDOM_DIGITS = 8; // 40 bits, 44 with those beside the owner: nobody guesses an id, and processes do not collide

/** The system clock, random ids that sort in the order in which a process makes them, and SHA-256. */
export const systemTools: Tools = {
  now: () => Date.now(),
  id: (kind: IdKind, owner?: OwnerBits) =>
    `${kind}_${orderedPart(Date.now())}${ownerPart(owner)}${drawn(RANDOM_DIGITS)}`,
  breathe,
  hash: (text) => hash('sha256', text),
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

const timeDigits = (at: number): string => digitsOf(at, TIME_DIGITS);

const ownerPart = (owner: OwnerBits | undefined): string =>
  owner === undefined ? drawn(OWNER_DIGITS) : ownerDigits(owner, drawn(1));

/** Ids whose random digits are drawn in one go: a draw costs more than all the rest of an id. */
const IDS_DRAWN = 256;
const pool = Buffer.alloc((OWNER_DIGITS + RANDOM_DIGITS) * IDS_DRAWN);
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
  for (let i = 0; i < pool.length; i += 1) pool[i] = ID_ALPHABET.charCodeAt((pool[i] ?? 0) % ID_ALPHABET.length);
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
