import { InvalidCursorError, type Page, type Paged } from '@slowwave/engine';

/** What a list is ordered by: `order` falling, ids falling among equals. */
interface Key {
  readonly order: number;
  readonly id: string;
}

/** One page of rows. A cursor names the last row given out, so rows that come or go meanwhile move nothing. */
export function pageOf<T>(rows: readonly T[], keyOf: (row: T) => Key, page: Page): Paged<T> {
  const after = page.cursor === null ? null : readCursor(page.cursor);
  const rest = [...rows]
    .sort((a, b) => compare(keyOf(a), keyOf(b)))
    .filter((row) => after === null || compare(keyOf(row), after) > 0);
  const results = rest.slice(0, page.limit);
  const last = results.at(-1);
  const more = rest.length > results.length && last !== undefined;
  return { results, nextCursor: more ? writeCursor(keyOf(last)) : null };
}

/** The same of rows in rising order of a key. */
export function pageAscending<T>(rows: readonly T[], keyOf: (row: T) => RisingKey, page: Page): Paged<T> {
  const after = page.cursor === null ? null : readKey(page.cursor);
  const rest = rows
    .toSorted((a, b) => rising(keyOf(a), keyOf(b)))
    .filter((row) => after === null || rising(keyOf(row), after) > 0);
  const results = rest.slice(0, page.limit);
  const last = results.at(-1);
  const more = rest.length > results.length && last !== undefined;
  return { results, nextCursor: more ? JSON.stringify(keyOf(last)) : null };
}

type RisingKey = readonly [string | number, string];

function rising(a: RisingKey, b: RisingKey): number {
  if (a[0] !== b[0]) return a[0] < b[0] ? -1 : 1;
  return a[1] < b[1] ? -1 : Number(a[1] > b[1]);
}

function readKey(cursor: string): RisingKey {
  try {
    const [order, id] = JSON.parse(cursor);
    if (typeof id === 'string') return [order, id];
  } catch {}
  throw new InvalidCursorError();
}

function compare(a: Key, b: Key): number {
  if (a.order !== b.order) return b.order - a.order;
  if (a.id === b.id) return 0;
  return a.id < b.id ? 1 : -1;
}

const writeCursor = (key: Key): string => `${key.order}~${key.id}`;

function readCursor(cursor: string): Key {
  const [, order, id] = /^(-?\d+)~(.+)$/s.exec(cursor) ?? [];
  if (order === undefined || id === undefined) throw new InvalidCursorError();
  return { order: Number(order), id };
}
