import type { Memory, MemoryEvent, MemoryVersion, Owner, SaidAt, Scope, TenantId } from '../words.ts';
import { compareSaid, type LaneId, saidBefore } from '../words.ts';

/** Where a memory lives: known before its first event. */
export interface Home {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly owner: Owner;
  readonly scope: Scope;
}

/** A memory as its events leave it. Pure: the same events always give the same memory. */
export function evolve(home: Home, memory: Memory | null, events: readonly MemoryEvent[]): Memory {
  let state = memory;
  for (const event of events) state = step(home, state, event);
  if (state === null) throw new Error('a memory needs at least one event');
  return state;
}

/** The version that is newest by said_at: the one that holds, if any does. */
export function newest(memory: Memory): MemoryVersion {
  const sorted = [...memory.versions].sort((a, b) => compareSaid(a.saidAt, b.saidAt) || a.number - b.number);
  const last = sorted.at(-1);
  if (last === undefined) throw new Error(`memory ${memory.id} has no version`);
  return last;
}

/** The version that holds now, or null when the memory was deleted. */
export function liveVersion(memory: Memory): MemoryVersion | null {
  return deletedAt(memory) === null ? newest(memory) : null;
}

/** The deletion that still holds: said later than every version. */
export function deletedAt(memory: Memory): SaidAt | null {
  const last = [...memory.deletions].sort(compareSaid).at(-1);
  return last !== undefined && saidBefore(newest(memory).saidAt, last) ? last : null;
}

function step(home: Home, memory: Memory | null, event: MemoryEvent): Memory {
  const revision = (memory?.revision ?? 0) + 1;
  if (event.revision !== revision) {
    throw new Error(`event ${event.id} makes revision ${event.revision} of ${event.memoryId}, expected ${revision}`);
  }
  const before = memory ?? born(home, event);
  const after = { ...before, revision, updatedAt: event.recordedAt };
  switch (event.kind) {
    case 'ADD':
    case 'UPDATE':
      return close(withVersion(after, event));
    case 'DELETE':
      return close({ ...after, deletions: [...before.deletions, event.saidAt] });
    case 'NONE':
      return {
        ...after,
        confirmations: before.confirmations + 1,
        lastConfirmedAt: event.recordedAt,
        updatedAt: before.updatedAt,
      };
  }
}

function born(home: Home, event: MemoryEvent): Memory {
  return {
    id: event.memoryId,
    ...home,
    versions: [],
    deletions: [],
    confirmations: 0,
    lastConfirmedAt: null,
    revision: 0,
    createdAt: event.recordedAt,
    updatedAt: event.recordedAt,
  };
}

function withVersion(memory: Memory, event: MemoryEvent): Memory {
  if (event.text === null || event.details === null)
    throw new Error(`event ${event.id} makes a version without a text`);
  const version: MemoryVersion = {
    number: event.version,
    text: event.text,
    saidAt: event.saidAt,
    validFrom: event.validFrom,
    invalidAt: null,
    supersededBy: null,
    details: event.details,
    recordedAt: event.recordedAt,
  };
  return { ...memory, versions: [...memory.versions, version] };
}

/**
 * Sets the intervals of all versions: one ends where anything said later begins to hold or deletes it, at the earliest
 * of them, so that no two overlap.
 */
function close(memory: Memory): Memory {
  const sorted = [...memory.versions].sort((a, b) => compareSaid(a.saidAt, b.saidAt) || a.number - b.number);
  const closed = sorted.map((version, i) => {
    const later = sorted.slice(i + 1);
    const deletions = memory.deletions.filter((deletion) => saidBefore(version.saidAt, deletion));
    const ends = [...later.map((other) => other.validFrom), ...deletions.map((deletion) => deletion.at)];
    const invalidAt = ends.length === 0 ? null : Math.max(version.validFrom, Math.min(...ends));
    return { ...version, invalidAt, supersededBy: later[0]?.number ?? null };
  });
  return { ...memory, versions: closed.sort((a, b) => a.number - b.number) };
}
