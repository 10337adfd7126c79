import { normaliseText } from '../text/normalise.ts';
import type {
  LaneId,
  Mark,
  Memory,
  MemoryEvent,
  MemoryVersion,
  Millis,
  Owner,
  SaidAt,
  Scope,
  TenantId,
} from '../words.ts';
import { compareSaid, saidBefore } from '../words.ts';

/** Where a memory lives: known before its first event. */
export interface Home {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly owner: Owner;
  readonly scope: Scope;
}

type Said = Extract<Mark, { kind: 'said' }>;

/**
 * A memory as its events leave it. Pure, and blind to the order in which events arrive: only when things were said
 * decides which versions there are and when each of them held.
 */
export function evolve(home: Home, memory: Memory | null, events: readonly MemoryEvent[]): Memory {
  let state = memory;
  for (const event of events) state = step(home, state, event);
  if (state === null) throw new Error('a memory needs at least one event');
  return { ...state, versions: versionsOf(state.timeline) };
}

/** The version that was said last. */
export function newest(memory: Memory): MemoryVersion {
  const last = [...memory.versions].sort((a, b) => compareSaid(a.saidAt, b.saidAt)).at(-1);
  if (last === undefined) throw new Error(`memory ${memory.id} has no version`);
  return last;
}

/** The version that holds now, or null when the memory was deleted. */
export function liveVersion(memory: Memory): MemoryVersion | null {
  return deletedAt(memory) === null ? newest(memory) : null;
}

/** The deletion that still holds: said later than everything else. */
export function deletedAt(memory: Memory): SaidAt | null {
  const last = inSaidOrder(memory.timeline).at(-1);
  return last?.kind === 'deleted' ? last.saidAt : null;
}

function step(home: Home, memory: Memory | null, event: MemoryEvent): Memory {
  const revision = (memory?.revision ?? 0) + 1;
  if (event.revision !== revision) {
    throw new Error(`event ${event.id} makes revision ${event.revision} of ${event.memoryId}, expected ${revision}`);
  }
  const before = memory ?? born(home, event);
  const next = { ...before, revision, timeline: [...before.timeline, markOf(event)] };
  if (event.kind !== 'NONE') return { ...next, updatedAt: event.recordedAt };
  return { ...next, confirmations: before.confirmations + 1, lastConfirmedAt: event.recordedAt };
}

function born(home: Home, event: MemoryEvent): Memory {
  return {
    id: event.memoryId,
    ...home,
    versions: [],
    timeline: [],
    confirmations: 0,
    lastConfirmedAt: null,
    revision: 0,
    createdAt: event.recordedAt,
    updatedAt: event.recordedAt,
  };
}

function markOf(event: MemoryEvent): Mark {
  const { revision, saidAt, recordedAt, text, details, validFrom } = event;
  if (event.kind === 'DELETE') return { kind: 'deleted', revision, saidAt, recordedAt };
  if (text === null || details === null) throw new Error(`event ${event.id} says something without a text`);
  return { kind: 'said', revision, text, saidAt, validFrom, details, confirms: event.kind === 'NONE', recordedAt };
}

const inSaidOrder = (timeline: readonly Mark[]): Mark[] =>
  [...timeline].sort((a, b) => compareSaid(a.saidAt, b.saidAt) || a.revision - b.revision);

/** Neighbouring marks with the same text are one version: said first by the first of them, confirmed by the others. */
function versionsOf(timeline: readonly Mark[]): MemoryVersion[] {
  const runs: Said[][] = [];
  const deletions: SaidAt[] = [];
  let open: Said[] | null = null;
  for (const mark of inSaidOrder(timeline)) {
    if (mark.kind === 'deleted') {
      deletions.push(mark.saidAt);
      open = null;
    } else if (open?.[0] !== undefined && sameText(open[0].text, mark.text)) {
      open.push(mark);
    } else {
      open = [mark];
      runs.push(open);
    }
  }
  return close(runs.map(versionOf), deletions).sort((a, b) => a.number - b.number);
}

const sameText = (a: string, b: string): boolean => a === b || normaliseText(a) === normaliseText(b);

/**
 * The mark said first gives wording and times, the last that is no mere confirmation the details; the one that arrived
 * first gives the number, which never changes.
 */
function versionOf(run: readonly Said[]): MemoryVersion {
  const [first] = run;
  const [giver] = [...run].sort((a, b) => a.revision - b.revision);
  if (first === undefined || giver === undefined) throw new Error('a version needs at least one mark');
  const details = (run.findLast((mark) => !mark.confirms) ?? first).details;
  const sourceIds = [...new Set(run.flatMap((mark) => mark.details.sourceIds))];
  return {
    number: giver.revision,
    text: first.text,
    saidAt: first.saidAt,
    validFrom: first.validFrom,
    invalidAt: null,
    supersededBy: null,
    details: { ...details, sourceIds },
    recordedAt: giver.recordedAt,
  };
}

/**
 * Sets the intervals of versions given in said order: each ends where anything said later begins to hold or deletes
 * it, at the earliest of them, so that no two overlap.
 */
function close(versions: readonly MemoryVersion[], deletions: readonly SaidAt[]): MemoryVersion[] {
  return versions.map((version, i) => {
    const later = versions.slice(i + 1);
    const ended = deletions.filter((deletion) => saidBefore(version.saidAt, deletion));
    const ends: Millis[] = [...later.map((other) => other.validFrom), ...ended.map((deletion) => deletion.at)];
    const invalidAt = ends.length === 0 ? null : Math.max(version.validFrom, Math.min(...ends));
    return { ...version, invalidAt, supersededBy: later[0]?.number ?? null };
  });
}
