import type { Paged } from '@slowwave/engine';
import { InvalidCursorError } from '@slowwave/engine/storing';

/** Where a list goes on: the sort key of the last row given out. */
export type SortKey = readonly (string | number)[];

/** The shape of a list's sort key. */
export type KeyShape = readonly ('string' | 'number')[];

/** One page of rows, of which one more than `limit` was read to know whether there is another page. */
export function pageOf<Row>(rows: readonly Row[], limit: number, keyOf: (row: Row) => SortKey): Paged<Row> {
  const results = rows.slice(0, limit);
  const last = results.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { results, nextCursor: more ? Buffer.from(JSON.stringify(keyOf(last))).toString('base64url') : null };
}

/** The sort key a cursor stands for, or null without a cursor. */
export function readCursor(cursor: string | null, shape: KeyShape): SortKey | null {
  if (cursor === null) return null;
  const key = parse(cursor);
  const fits = Array.isArray(key) && key.length === shape.length && key.every((part, i) => typeof part === shape[i]);
  if (!fits) throw new InvalidCursorError();
  return key as SortKey;
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw new InvalidCursorError();
  }
}
