import { eventIdOf } from '../ids.ts';
import type { MemoryChange } from '../ports/ledger/memories.ts';
import type { Certainty, Conclusion, Mark, Memory, MemoryEvent, Millis, Piece } from '../words.ts';
import { evolve, inEffect, lastSaidAt, liveVersion, unretracted } from './evolve.ts';

/**
 * Conclusions: memories that nobody said, which a night drew from others. A conclusion stands while as many pieces of its evidence
 * hold as its certainty needs; whatever changes a memory also turns the conclusions that rest on it, in the same transaction:
 *
 *   stands   all it needs holds
 *     a piece is corrected, deleted, undone, merged away   → fallen     what concluded it no longer counts, as if it were undone
 *   fallen   nobody finds it in any form
 *     the piece is there again                             → stands     the fall no longer counts
 *
 * Pure, of what holds now: any order of deletions and undos comes to the same. Once somebody says it, too, it is no conclusion.
 */

/** Of a piece of evidence less, it falls. */
export const PIECES_NEEDED: Readonly<Record<Certainty, number>> = { low: 2, medium: 3, high: 5 };

type MemoryOf = (id: string) => Memory | undefined;
type Concluded = Extract<Mark, { kind: 'said' }> & { readonly details: { readonly concluded: Conclusion } };

/** Whether anything of it was concluded, by what counts or has fallen. */
export const hasConclusions = ({ timeline }: Pick<Memory, 'timeline'>): boolean => timeline.some(isConcluded);

const isConcluded = (mark: Mark): mark is Concluded => mark.kind === 'said' && mark.details.concluded !== undefined;

/** All memories that a memory was ever concluded from. */
export const piecesOf = ({ timeline }: Pick<Memory, 'timeline'>): readonly string[] => [
  ...new Set(timeline.filter(isConcluded).flatMap(({ details }) => details.concluded.from.map((one) => one.memoryId))),
];

/** Whether a piece says what it said, for as long as nobody says otherwise, and because somebody said it. */
export function isLiving({ memoryId, version }: Piece, memoryOf: MemoryOf): boolean {
  const memory = memoryOf(memoryId);
  const live = memory === undefined ? null : liveVersion(memory);
  if (live === null || live.number !== version) return false;
  const { expiresAt, concluded, flagged, removed } = live.details;
  return expiresAt === null && concluded === undefined && flagged !== true && removed === undefined;
}

/** Whether enough of what it rests on holds. */
export const standsOn = ({ certainty, from }: Conclusion, memoryOf: MemoryOf): boolean =>
  from.filter((piece) => isLiving(piece, memoryOf)).length >= PIECES_NEEDED[certainty];

/** The fall of a conclusion that counts, by its revision; null: it has not fallen. */
const fallOf = ({ timeline }: Pick<Memory, 'timeline'>, revision: number): number | null =>
  unretracted(timeline).find(
    (mark) => mark.kind === 'retracted' && mark.turns === true && mark.retracts.includes(revision),
  )?.revision ?? null;

/** Whether all that was concluded of it has fallen, and nothing else was said. */
export const isFallen = (memory: Memory): boolean =>
  liveVersion(memory) === null &&
  memory.timeline.some((mark) => isConcluded(mark) && fallOf(memory, mark.revision) !== null);

interface Turning {
  /** Whatever is written now. */
  readonly changes: readonly MemoryChange[];
  /** Conclusions of the same lanes that are not written now. */
  readonly conclusions: readonly Memory[];
  /** What conclusions rest on and is not written now. */
  readonly pieces: readonly Memory[];
  readonly now: Millis;
}

/** The changes with what falls and what stands again because of them: one change for each memory. */
export function withTurned({ changes, conclusions, pieces, now }: Turning): readonly MemoryChange[] {
  const known = new Map([...pieces, ...changes.map(({ memory }) => memory)].map((memory) => [memory.id, memory]));
  const memoryOf: MemoryOf = (id) => known.get(id);
  const turned = (change: MemoryChange): MemoryChange => {
    const events = turnsOf(change.memory, { memoryOf, now });
    if (events.length === 0) return change;
    return { ...change, memory: evolve(change.memory, change.memory, events), events: [...change.events, ...events] };
  };
  const others = conclusions.map((memory) => turned({ memory, expectedRevision: memory.revision, events: [] }));
  return [...changes.map(turned), ...others.filter(({ events }) => events.length > 0)];
}

function turnsOf(
  memory: Memory,
  { memoryOf, now }: { readonly memoryOf: MemoryOf; readonly now: Millis },
): readonly MemoryEvent[] {
  const counting = new Set(inEffect(memory.timeline).map(({ revision }) => revision));
  const turned: MemoryEvent[] = [];
  for (const mark of memory.timeline.filter(isConcluded)) {
    const fall = fallOf(memory, mark.revision);
    const stands = standsOn(mark.details.concluded, memoryOf);
    const retracts = stands ? fall : counting.has(mark.revision) ? mark.revision : null;
    if (retracts === null) continue;
    const reason = stands ? 'what it was concluded from holds again' : 'what it was concluded from no longer holds';
    turned.push(eventOf(memory, { revision: memory.revision + 1 + turned.length, retracts, reason, mark, now }));
  }
  return turned;
}

interface Turn {
  readonly revision: number;
  readonly retracts: number;
  readonly reason: string;
  readonly mark: Concluded;
  readonly now: Millis;
}

const eventOf = (memory: Memory, { revision, retracts, reason, mark, now }: Turn): MemoryEvent => ({
  id: eventIdOf(memory.id, revision),
  memoryId: memory.id,
  revision,
  kind: 'UNDO',
  actor: 'sleep',
  consolidationId: null,
  factId: null,
  reason,
  previous: liveVersion(memory)?.text ?? null,
  saidAt: liveVersion(memory) === null ? mark.saidAt : lastSaidAt(memory),
  validFrom: now,
  recordedAt: now,
  text: null,
  details: null,
  sourceIds: [],
  retraction: { undoId: null, retracts: [retracts] },
});
