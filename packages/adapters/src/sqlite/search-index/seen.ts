import type { IndexQuery, Sighted } from '@slowwave/engine';
import { visible } from '@slowwave/engine/storing';
import type { OwnerTable } from './owner-table.ts';
import { FLOAT, idWords, WORD } from './record.ts';
import { floatAt, memoryIdAt, type Segment, SUPERSEDED, wordAt } from './segment.ts';

/** The records a question sees: the one at each position in two lists. */
export interface Seen {
  readonly segments: readonly Segment[];
  readonly records: readonly number[];
}

/** Slots of the owner that a filter leaves; null: it leaves all of them. */
export type Narrowed = ReadonlySet<number> | null;

export function seenOf({ segments }: OwnerTable, query: IndexQuery, narrowed: Narrowed): Seen {
  const seen = { segments: [] as Segment[], records: [] as number[] };
  const sight = { visibility: query.visibility, filter: {} };
  const scope = scopeTest(query);
  const cursor = newCursor();
  for (const segment of segments) {
    for (const record of segment.records) {
      if (wordAt(segment, record, WORD.live) === SUPERSEDED) continue;
      cursor.move(segment, record);
      if (!visible(cursor.point, sight) || (scope !== null && !scope(segment, record))) continue;
      if (narrowed !== null && !narrowed.has(wordAt(segment, record, WORD.slot))) continue;
      seen.segments.push(segment);
      seen.records.push(record);
    }
  }
  return seen;
}

/** The order of equal scores: by memory id, then version. */
export function compareSeen({ segments, records }: Seen, one: number, other: number): number {
  const [a, b] = [segments[one], segments[other]];
  const [i, j] = [records[one], records[other]];
  if (a === undefined || b === undefined || i === undefined || j === undefined) return 0;
  const [idA, idB] = [memoryIdAt(a, i), memoryIdAt(b, j)];
  if (idA !== idB) return idA < idB ? -1 : 1;
  return wordAt(a, i, WORD.version) - wordAt(b, j, WORD.version);
}

/** Whether a record is of the agent, run and app that were asked for; null: none was. */
function scopeTest({ filter }: IndexQuery): ((segment: Segment, record: number) => boolean) | null {
  const asked = [filter.agentId, filter.runId, filter.appId].flatMap((id, i) => {
    if (id === undefined) return [];
    const [low, high] = idWords(id);
    return [{ word: WORD.scope + i * 2, low, high }];
  });
  if (asked.length === 0) return null;
  return (segment, record) =>
    asked.every(
      ({ word, low, high }) => wordAt(segment, record, word) === low && wordAt(segment, record, word + 1) === high,
    );
}

interface Cursor {
  readonly point: Sighted;
  move(segment: Segment, record: number): void;
}

const NOWHERE: Sighted['scope'] = { userId: null, agentId: null, runId: null, appId: null };

/** One point after another as the engine looks at them, without an object for each. Its scope is not among it. */
function newCursor(): Cursor {
  let segment: Segment | null = null;
  let record = 0;
  const word = (at: number): number => (segment === null ? 0 : wordAt(segment, record, at));
  const float = (at: number): number => (segment === null ? 0 : floatAt(segment, record, at));
  const orNever = (moment: number): number | null => (moment === Number.POSITIVE_INFINITY ? null : moment);
  return {
    move: (to, at) => {
      segment = to;
      record = at;
    },
    point: {
      scope: NOWHERE,
      get live() {
        return word(WORD.live) === 1;
      },
      get saidAt() {
        return { at: float(FLOAT.saidAt), seq: float(FLOAT.saidSeq) };
      },
      get validFrom() {
        return float(FLOAT.validFrom);
      },
      get shownFrom() {
        const at = float(FLOAT.shownFrom);
        return Number.isNaN(at) ? undefined : at;
      },
      get invalidAt() {
        return orNever(float(FLOAT.invalidAt));
      },
      get expiresAt() {
        return orNever(float(FLOAT.expiresAt));
      },
      get deletedAt() {
        const at = orNever(float(FLOAT.deletedAt));
        return at === null ? null : { at, seq: float(FLOAT.deletedSeq) };
      },
    },
  };
}
