import type { Mark, Memory, NamedIds } from '../words.ts';
import { evolve, inEffect, liveVersion } from './evolve.ts';
import { isHollow } from './former.ts';
import { KEY_OF, SAID_KINDS } from './said-ids.ts';

/** The revisions of what was said under all of these ids, and counts. */
export const saidUnder = ({ timeline }: Pick<Memory, 'timeline'>, named: NamedIds): readonly number[] =>
  inEffect(timeline).flatMap((mark) => (isUnder(mark, named) ? [mark.revision] : []));

const isUnder = (mark: Mark, named: NamedIds): boolean =>
  mark.kind === 'said' &&
  mark.under !== undefined &&
  SAID_KINDS.every((kind) => named[KEY_OF[kind]] === undefined || named[KEY_OF[kind]] === mark.under?.[KEY_OF[kind]]);

/**
 * Whether nothing is left of a memory without what was said under these ids: it belongs to one of them, nobody said it elsewhere, or
 * what was said elsewhere does not hold now. A change by a request is not a saying of its own.
 */
export function fallsWithout(memory: Memory, named: NamedIds): boolean {
  const { kind, id } = memory.owner;
  if (kind !== 'user' && named[KEY_OF[kind]] === id) return true;
  const isOthers = (mark: Mark): boolean => mark.kind === 'said' && mark.under !== undefined && !isUnder(mark, named);
  if (!inEffect(memory.timeline).some(isOthers)) return true;
  const left = without(memory, saidUnder(memory, named));
  return liveVersion(left) === null || isHollow(left);
}

/** The memory as if these marks did not count. */
function without(memory: Memory, retracts: readonly number[]): Memory {
  const { revision, updatedAt: recordedAt } = memory;
  const timeline: readonly Mark[] = [
    ...memory.timeline,
    { kind: 'retracted', revision: revision + 1, retracts, recordedAt },
  ];
  return evolve(memory, { ...memory, timeline }, []);
}
