import { readFileSync } from 'node:fs';

/**
 * Loaded before a program: its clock goes wrong by the milliseconds in a file, from a moment after they are written
 * there. Timers and the monotonic clock stay right, as they do when a real clock is set.
 */
const POLL_MS = 100;
// biome-ignore lint/style/noProcessEnv: given to a program that knows nothing of it.
const file = process.env.CHAOS_CLOCK_FILE;
const RealDate = Date;
let offset = 0;

class ShiftedDate extends RealDate {
  constructor(...given: [] | [string | number | Date]) {
    if (given.length === 0) super(ShiftedDate.now());
    else super(...(given as [string]));
  }
  static override now(): number {
    return RealDate.now() + offset;
  }
}

function read(path: string): void {
  try {
    offset = Number(readFileSync(path, 'utf8')) || 0;
  } catch {
    offset = 0; // not written yet
  }
}

if (file !== undefined) {
  globalThis.Date = ShiftedDate as DateConstructor;
  read(file);
  setInterval(read, POLL_MS, file).unref();
}
