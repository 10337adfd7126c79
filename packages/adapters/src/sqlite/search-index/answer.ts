import type { IndexQuery } from '@slowwave/engine';
import type { Sql } from '../ledger/sql.ts';
import { floatsOf } from './floats.ts';
import { keywordLeg } from './keyword-leg.ts';
import type { OwnerTable } from './owner-table.ts';
import type { FoundPoint } from './protocol.ts';
import { WORD } from './record.ts';
import { compareSeen, type Seen, seenOf } from './seen.ts';
import { wordAt } from './segment.ts';
import { fittingSlots } from './sql-filter.ts';
import { SLOTS } from './tables.ts';
import { vectorLeg } from './vector-leg.ts';

/** The points either leg found, by memory id and version, with only their payloads read from the file. */
export function answerOf(sql: Sql, table: OwnerTable, query: IndexQuery): FoundPoint[] {
  const seen = seenOf(table, query, fittingSlots(sql, table.owner, query));
  const rowOf = rowsOf(table, seen);
  const { vector, terms } = query;
  const whole = (positions: readonly number[]) => vectorsAt(sql, positions, rowOf);
  const vectors = new Map(vector === null ? [] : vectorLeg(seen, { ...query, vector }, whole));
  const keywords = new Map(terms === null ? [] : keywordLeg(seen, { ...query, terms }));
  const positions = [...new Set([...vectors.keys(), ...keywords.keys()])].sort((a, b) => compareSeen(seen, a, b));
  const payloads = byRow<{ row: number; payload: string }>(sql, PAYLOADS, positions.map(rowOf));
  return positions.flatMap((position) => {
    const stored = payloads.get(rowOf(position));
    if (stored === undefined) return [];
    const scores = { vectorScore: vectors.get(position) ?? null, keywordScore: keywords.get(position) ?? null };
    return [{ payload: stored.payload, ...scores }];
  });
}

type RowOf = (position: number) => number;

const rowsOf =
  ({ owner }: OwnerTable, { segments, records }: Seen): RowOf =>
  (position) => {
    const segment = segments[position];
    return owner.number * SLOTS + (segment === undefined ? 0 : wordAt(segment, records[position] ?? 0, WORD.slot));
  };

function vectorsAt(sql: Sql, positions: readonly number[], rowOf: RowOf): Map<number, Float32Array> {
  const found = byRow<{ row: number; vector: Buffer }>(sql, VECTORS, positions.map(rowOf));
  return new Map(
    positions.flatMap((position) => {
      const stored = found.get(rowOf(position));
      return stored === undefined ? [] : [[position, floatsOf(stored.vector)] as const];
    }),
  );
}

const AMONG = 'FROM details WHERE row IN (SELECT value FROM json_each(@rows))';
const VECTORS = `SELECT row, vector ${AMONG}`;
const PAYLOADS = `SELECT row, payload ${AMONG}`;

const byRow = <Row extends { readonly row: number }>(sql: Sql, text: string, rows: readonly number[]) =>
  new Map(sql.all<Row>(text, { rows: JSON.stringify(rows) }).map((stored) => [stored.row, stored]));
