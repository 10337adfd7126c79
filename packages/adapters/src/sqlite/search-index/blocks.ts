import { floatsOf } from './floats.ts';
import { recordOf } from './record.ts';
import { BLOCK_SLOTS, type Place, WITHDRAWN } from './tables.ts';

/**
 * Loose points of a block at which it is written anew. Whoever reads an owner that is not in memory reads loose points
 * one by one, ten microseconds each; writing a block costs ten for each point that is in it.
 */
const LOOSE_MAX = 32;

/** Writes a block anew where too much of it has changed, or something was withdrawn. */
export function keepBlock({ sql, tables }: Place, first: number): void {
  const range = { first, last: first + BLOCK_SLOTS - 1 };
  const within = 'row BETWEEN @first AND @last';
  const loose = sql.get<{ count: number; withdrawn: number }>(
    `SELECT count(*) AS count, total(live = ${WITHDRAWN}) AS withdrawn FROM ${tables.points} WHERE loose = 1 AND ${within}`,
    range,
  );
  if (loose === null || (loose.count < LOOSE_MAX && loose.withdrawn === 0)) return;
  const records = sql
    .all<{ head: Buffer; vector: Buffer }>(
      `SELECT head, vector FROM ${tables.points} JOIN ${tables.details} USING (row)
        WHERE ${within} AND live <> ${WITHDRAWN} ORDER BY row`,
      range,
    )
    .map(({ head, vector }) => recordOf(head, floatsOf(vector)));
  sql.run(`INSERT OR REPLACE INTO ${tables.blocks} (row, records) VALUES (@first, @records)`, {
    first,
    records: Buffer.concat(records),
  });
  sql.run(`UPDATE ${tables.points} SET loose = 0 WHERE loose = 1 AND ${within}`, range);
}
