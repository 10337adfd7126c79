import type { PointsOfOwner } from './looking.ts';
import type { ReadParts } from './packed-shown.ts';
import { type Segment, type StoredPoint, segmentOf } from './stored-point.ts';

interface KeptOwners<Table> {
  get(name: string): Table | null;
  keep(name: string, table: Table): void;
  forget(name: string): void;
  forgetAll(): void;
}

/**
 * Owners of which it is remembered that they were asked about. Who comes once among thousands is not kept: its bytes would
 * push out those of others, and be thrown away when they are old, for which the thread would stand still.
 */
const ASKED_MAX = 256;

interface KeepOptions {
  readonly bytes: number;
  /** From the first question on, and the last one whatever it takes: to read them takes long. */
  readonly atOnce?: boolean;
}

/** Keeps owners from their second question on, those that were asked about last, up to so many bytes. */
export function keptOwners<Table extends PointsOfOwner>({ bytes, atOnce = false }: KeepOptions): KeptOwners<Table> {
  const tables = new Map<string, { readonly table: Table; readonly bytes: number }>(); // least recently used first
  const asked = new Set<string>(); // the same
  let total = 0;

  const forget = (name: string): void => {
    total -= tables.get(name)?.bytes ?? 0;
    tables.delete(name);
  };
  const wasAsked = (name: string): boolean => {
    const before = asked.delete(name);
    asked.add(name);
    for (const oldest of asked) if (asked.size > ASKED_MAX) asked.delete(oldest);
    return before;
  };
  return {
    get: (name) => tables.get(name)?.table ?? null,
    forget,
    forgetAll: () => {
      for (const name of [...tables.keys()]) forget(name);
    },
    keep: (name, table) => {
      forget(name);
      if (!atOnce && !wasAsked(name)) return;
      const kept = { table, bytes: bytesOf(table) };
      tables.set(name, kept);
      total += kept.bytes;
      for (const oldest of tables.keys()) {
        if (total <= bytes || (atOnce && oldest === name)) return;
        forget(oldest);
      }
    },
  };
}

/** What a table takes in memory beside its bytes, about, for each segment. */
const SEGMENT_BYTES = 1_000;
/** And for each point in it. */
const POINT_BYTES = 56;

const bytesOf = ({ segments, many }: PointsOfOwner): number =>
  segments.reduce((sum, segment) => sum + bytesOfSegment(segment), many?.bytes ?? 0);

function bytesOfSegment({ bytes, points }: Segment): number {
  let all = bytes.length + SEGMENT_BYTES + points.length * POINT_BYTES;
  for (const { shown } of points) all += shown?.length ?? 0;
  return all;
}

/** A point that was written. */
export interface ChangedPoint {
  readonly slot: number;
  /** null: it is withdrawn. */
  readonly point: StoredPoint | null;
  /** What hits show of it; null: that was not read. */
  readonly parts: ReadParts | null;
}

/** Points that were written since take the places of older ones, which are left out where they were. */
export function withChanges(segments: readonly Segment[], changed: readonly ChangedPoint[]): readonly Segment[] {
  if (changed.length === 0) return segments;
  const slots = new Set(changed.map(({ slot }) => slot));
  const kept = segments.map(({ bytes, points }) => ({ bytes, points: points.filter(({ slot }) => !slots.has(slot)) }));
  const written = writtenIn(changed);
  return written === null ? kept : [...kept, written];
}

/** What is still there of points that were written; null: nothing. */
export function writtenIn(changed: readonly ChangedPoint[]): Segment | null {
  const records = changed.flatMap(({ point }) => (point === null ? [] : [point.record]));
  return records.length === 0 ? null : segmentOf(Buffer.concat(records));
}
