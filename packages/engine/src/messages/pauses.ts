import type { Appended, NewBatch, NewMessage } from '../ports/ledger/batches.ts';
import type { Pause } from '../ports/ledger/lanes.ts';
import type { Content, Millis } from '../words.ts';

/** Since when an owner wants nothing remembered; null: everything is. */
export function pausedAtOf(pauses: readonly Pause[]): Millis | null {
  const last = pauses.at(-1);
  return last?.until === null ? last.from : null;
}

/** More of them are a program's doing. The oldest become one, which withholds more rather than less. */
const PAUSES_MAX = 100;

/** The pauses after somebody paused, or went on. */
export function withPause(
  pauses: readonly Pause[],
  { paused, now }: { paused: boolean; now: Millis },
): readonly Pause[] {
  const from = pausedAtOf(pauses);
  if (paused === (from !== null)) return pauses;
  if (from !== null) return [...pauses.slice(0, -1), { from, until: Math.max(from, now) }];
  const [first, second, ...rest] = pauses;
  const isFull = pauses.length >= PAUSES_MAX && first !== undefined && second !== undefined;
  return [...(isFull ? [{ from: first.from, until: second.until }, ...rest] : pauses), { from: now, until: null }];
}

/** In place of what was said in a pause. */
const NOT_HEARD: Content = { withheld: 'paused' };

interface Heard {
  readonly batch: NewBatch;
  /** Whether anything of it was said in a pause. */
  readonly paused: Extract<Appended, { kind: 'stored' }>['paused'];
}

/**
 * A batch without what was said in a pause: all of it while one goes on, later what has a time in one. Its messages keep their
 * places and the ids of their senders, so that one that is sent again after the pause is known, and not taken for a new one.
 */
export function heard(batch: NewBatch, pauses: readonly Pause[]): Heard {
  if (pauses.length === 0) return { batch, paused: 'none' };
  const isPaused = pausedAtOf(pauses) !== null;
  const isIn = ({ at }: NewMessage): boolean =>
    isPaused || (at !== null && pauses.some(({ from, until }) => from <= at && (until === null || at < until)));
  const messages = batch.messages.map((message) =>
    isIn(message) ? { ...message, content: NOT_HEARD, name: null } : message,
  );
  const withheld = messages.filter(({ content }) => content === NOT_HEARD).length;
  if (withheld === 0) return { batch, paused: 'none' };
  if (withheld < messages.length) return { batch: { ...batch, messages }, paused: 'some' };
  return { batch: { ...batch, messages, metadata: {}, tokens: 0 }, paused: 'all' };
}
