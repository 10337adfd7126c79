import type { IndexQuery } from '@slowwave/engine';
import type { Sql } from '../ledger/sql.ts';
import { type Filtering, touchedIn } from './filtered-point.ts';
import { NOTHING_FITS, type TouchedSlot } from './fitting.ts';
import type { Seen } from './legs.ts';
import { foundIn, type Narrowed, shownOf } from './looking.ts';
import type { OwnerRow, OwnerTable } from './owners.ts';
import { keptJson } from './packed-shown.ts';
import type { FoundPoint } from './protocol.ts';
import type { StoredRow } from './rows.ts';
import { ShownRow } from './shown-row.ts';
import { blockOf, SLOTS } from './tables.ts';

/** What the legs find; of what is found it is read from the file what hits show, unless that is in memory. */
export function answerOf(sql: Sql, table: OwnerTable, query: IndexQuery): FoundPoint[] {
  const { many } = table;
  if (many !== null) return shownOf(foundIn(table, query, null), many.shownOf);
  const found = foundIn(table, query, fittingSlots(sql, table, query));
  readShown(
    sql,
    table.owner,
    found.flatMap(({ point }) => (point.shown === null ? [point] : [])),
  );
  return shownOf(found, ({ shown }) => shown);
}

/** Reads from the file what hits show of these points. */
function readShown(sql: Sql, { number }: OwnerRow, of: Seen): void {
  if (of.length === 0) return;
  const wanted = new Map(of.map((point) => [point.slot, point]));
  const rows = [...wanted.keys()].map((slot) => number * SLOTS + slot);
  // What is loose is newer than what its block has of it.
  for (const [text, of] of [
    [SHOWN_LOOSE, rows],
    [SHOWN_IN_BLOCKS, [...new Set(rows.map(blockOf))]],
  ] as const) {
    for (const { row, shown } of sql.all<ShownIn>(text, { rows: JSON.stringify(of) })) {
      const inRow = new ShownRow(shown, row % SLOTS);
      for (const [place, slot] of inRow.slots.entries()) {
        const point = wanted.get(slot);
        if (point !== undefined) point.shown ??= keptJson(inRow.partsAt(place), point.moments);
      }
    }
  }
}

type ShownIn = Pick<StoredRow, 'row' | 'shown'>;

const SHOWN_LOOSE = 'SELECT row, shown FROM loose WHERE row IN (SELECT value FROM json_each(@rows))';
const SHOWN_IN_BLOCKS = 'SELECT row, shown FROM blocks WHERE row IN (SELECT value FROM json_each(@rows))';

/** The slots of the owner's points that the question's filter is true of; null where it has none. */
function fittingSlots(sql: Sql, table: OwnerTable, query: IndexQuery): Narrowed {
  const { owner, fitting } = table;
  const { visibility, where } = query;
  if (where === null) return null;
  const known = fitting.get({ visibility, where }) ?? NOTHING_FITS;
  if (known.changes === owner.changes) return known;
  const now = known.with(owner.changes, touchedSince(sql, owner, { ...query, where, since: known.changes }));
  fitting.keep({ visibility, where }, now);
  return now;
}

/** Read from what a hit shows: nobody filters so much that more would pay. */
function touchedSince(sql: Sql, owner: OwnerRow, filtering: Filtering): readonly TouchedSlot[] {
  const touched = rowsSince(sql, owner, filtering.since).flatMap((row) => touchedIn(row, filtering));
  return [...new Map(touched.map((one) => [one.slot, one])).values()];
}

/** Rows with points that have changed since. What is loose comes last: it is newer than what its block has of it. */
function rowsSince(sql: Sql, { number }: OwnerRow, since: number) {
  const range = { first: number * SLOTS, last: (number + 1) * SLOTS - 1, since };
  return [CHANGED_IN_BLOCKS, CHANGED_LOOSE]
    .flatMap((text) => sql.all<Omit<StoredRow, 'records'>>(text, range))
    .map(({ row, ...packed }) => ({ ...packed, first: row % SLOTS }));
}

const CHANGED = 'WHERE row BETWEEN @first AND @last AND change > @since';
const CHANGED_IN_BLOCKS = `SELECT row, change, heads, shown FROM blocks ${CHANGED}`;
const CHANGED_LOOSE = `SELECT row, change, heads, shown FROM loose ${CHANGED}`;
