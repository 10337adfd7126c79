import type { IndexLane } from '@slowwave/engine';
import { SHELVES } from '@slowwave/engine/storing';
import { OWNER_NAMED, ownerKey } from './format.ts';
import { isThere, type Place, SLOTS, TABLES } from './tables.ts';

/**
 * Deletes a lane's points, whatever shelf they are on. They lie under numbers of the lane's own: what its owner has in another
 * lane is not touched, and whoever has read the lane knows it by a number that is never given again.
 */
export function forgetLane({ sql, tables }: Place, of: IndexLane): number {
  if (!TABLES.every((table) => isThere(sql, tables[table]))) return 0;
  return SHELVES.reduce((gone, shelf) => {
    const owner = sql.get<{ number: number }>(`DELETE FROM ${tables.owners} WHERE ${OWNER_NAMED} RETURNING number`, {
      ...ownerKey({ ...of, shelf }),
    });
    if (owner === null) return gone;
    const range = { first: owner.number * SLOTS, last: (owner.number + 1) * SLOTS - 1 };
    for (const table of [tables.details, tables.blocks]) sql.run(`DELETE FROM ${table} WHERE ${WITHIN}`, range);
    return gone + sql.run(`DELETE FROM ${tables.points} WHERE ${WITHIN}`, range);
  }, 0);
}

const WITHIN = 'row BETWEEN @first AND @last';
