import { undosInEffect } from '../memories/undone.ts';
import type { Undo } from '../ports/ledger/undos.ts';
import type { Millis } from '../words.ts';

/** When an explicit statement was recorded: the time, and how many undos its lane had before. */
export interface Recorded {
  readonly recordedAt: Millis;
  readonly undosBefore: number;
}

/**
 * Whether an explicit statement is taken back by the undos of its lane, oldest first: by a rollback that counts, came
 * after it, and leads back to before it.
 */
export function takenBackBy(undos: readonly Undo[]): (recorded: Recorded) => boolean {
  const rollbacks = undosInEffect(undos).filter(({ kind }) => kind === 'rollback');
  return ({ recordedAt, undosBefore }) =>
    rollbacks.some(({ number, to }) => number > undosBefore && to !== null && recordedAt > to);
}
