import { ProblemError } from '@slowwave/http';
import { deadlineOf, LATE } from '../deadline.ts';

/** What became of something that was waited for. */
export type Outcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'late' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A search keeps the limit by itself, and has a part of what was asked for then: it is heard a little longer. */
const GRACE_MS = 50;

/** Waits for something, no longer than so. */
export async function outcomeOf<T>(read: () => Promise<T>, timeoutMs: number | undefined): Promise<Outcome<T>> {
  const deadline = deadlineOf(timeoutMs === undefined ? undefined : timeoutMs + GRACE_MS);
  try {
    const value = await deadline.within(read);
    return value === LATE ? { kind: 'late' } : { kind: 'done', value };
  } catch (error) {
    const isLate = error instanceof ProblemError && error.code === 'timed_out';
    return isLate ? { kind: 'late' } : { kind: 'failed', error };
  } finally {
    deadline.end();
  }
}
