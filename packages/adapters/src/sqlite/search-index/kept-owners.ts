import { type Segment, segmentOf } from './stored-point.ts';

/** The points of one owner in memory, as a question looks at them. */
interface PointsOfOwner {
  readonly segments: readonly Segment[];
}

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

/** Keeps owners from their second question on, those that were asked about last, up to so many bytes. */
export function keptOwners<Table extends PointsOfOwner>({ bytes }: { bytes: number }): KeptOwners<Table> {
  const tables = new Map<string, Table>(); // least recently used first
  const asked = new Set<string>(); // the same
  let total = 0;

  const forget = (name: string): void => {
    const table = tables.get(name);
    if (table !== undefined) total -= bytesOf(table);
    tables.delete(name);
  };
  const wasAsked = (name: string): boolean => {
    const before = asked.delete(name);
    asked.add(name);
    for (const oldest of asked) if (asked.size > ASKED_MAX) asked.delete(oldest);
    return before;
  };
  return {
    get: (name) => tables.get(name) ?? null,
    forget,
    forgetAll: () => {
      for (const name of [...tables.keys()]) forget(name);
    },
    keep: (name, table) => {
      forget(name);
      if (!wasAsked(name)) return;
      tables.set(name, table);
      total += bytesOf(table);
      for (const oldest of tables.keys()) {
        if (total <= bytes) return;
        forget(oldest);
      }
    },
  };
}

/** What a table takes in memory beside its bytes, about, for each segment. */
const SEGMENT_BYTES = 1_000;
/** And for each point in it. */
const POINT_BYTES = 48;

const bytesOf = ({ segments }: PointsOfOwner): number =>
  segments.reduce((sum, { bytes, points }) => sum + bytes.length + SEGMENT_BYTES + points.length * POINT_BYTES, 0);

/** A point that was written; null: it is withdrawn. */
export interface ChangedPoint {
  readonly slot: number;
  readonly record: Uint8Array | null;
}

/** Points that were written since take the places of older ones, which are left out where they were. */
export function withChanges(segments: readonly Segment[], changed: readonly ChangedPoint[]): readonly Segment[] {
  if (changed.length === 0) return segments;
  const slots = new Set(changed.map(({ slot }) => slot));
  const kept = segments.map(({ bytes, points }) => ({ bytes, points: points.filter(({ slot }) => !slots.has(slot)) }));
  const records = changed.flatMap(({ record }) => (record === null ? [] : [record]));
  return records.length === 0 ? kept : [...kept, segmentOf(Buffer.concat(records))];
}
