import { type IdKind, type Log, type Millis, type OwnerBits, ownerDigits, type Tools } from '@slowwave/engine';

/** 2026-03-01T09:00:00Z, a Sunday. */
export const MORNING: Millis = 1_772_355_600_000;

export interface FixedTools extends Tools {
  /** The clock stands still until it is moved. */
  set(now: Millis): void;
  advance(by: Millis): void;
}

/** A clock that is set, ids that count, and a hash without any library. */
export function fixedTools(start: Millis = MORNING): FixedTools {
  let now = start;
  let ids = 0;
  return {
    now: () => now,
    id: (kind: IdKind, owner?: OwnerBits) => {
      ids += 1;
      return `${kind}_${String(ids).padStart(14, '0')}${owner === undefined ? '0000' : ownerDigits(owner, '0')}00000000`;
    },
    hash: hashOf,
    breathe: async () => {},
    set: (moment) => {
      now = moment;
    },
    advance: (by) => {
      now += by;
    },
  };
}

/** FNV-1a from two different bases: 64 bits, enough for the texts of a test. */
export const hashOf = (text: string): string => hex(fnv(text, 0x811c9dc5)) + hex(fnv(text, 0x01234567));

const hex = (hash: number): string => hash.toString(16).padStart(8, '0');

/** FNV-1a over UTF-16 units, 32 bits. */
export function fnv(text: string, base: number): number {
  const PRIME = 0x01000193;
  let hash = base;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME);
  return hash >>> 0;
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

/** A log that keeps its lines for the test to read. */
export function recordingLog(): Log & { readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const write = (level: LogLine['level']) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  return { lines, debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
