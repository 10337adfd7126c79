import type { Filter, IndexQuery } from '@slowwave/engine';
import { sqliteDialect } from '../../filter-sql/sqlite.ts';
import { translate } from '../../filter-sql/translate.ts';
import type { Sql } from '../ledger/sql.ts';
import type { Seen } from './legs.ts';
import { foundIn, type Narrowed, shownOf } from './looking.ts';
import type { OwnerRow, OwnerTable } from './owners.ts';
import type { FoundPoint } from './protocol.ts';
import { SLOTS } from './tables.ts';

/** What the legs find; only the payloads of what is found are read from the file. */
export function answerOf(sql: Sql, table: OwnerTable, query: IndexQuery): FoundPoint[] {
  const found = foundIn(table, query, fittingSlots(sql, table.owner, query));
  const payloads = payloadsOf(
    sql,
    table.owner,
    found.map(({ point }) => point),
  );
  return shownOf(found, (point) => payloads.get(point.slot));
}

/** What the file shows of these points, by their slots. */
function payloadsOf(sql: Sql, { number }: OwnerRow, of: Seen): Map<number, string> {
  const text = `SELECT row, payload FROM details WHERE row IN (SELECT value FROM json_each(@rows))`;
  const rows = JSON.stringify(of.map(({ slot }) => number * SLOTS + slot));
  const stored = sql.all<{ row: number; payload: string }>(text, { rows });
  return new Map(stored.map(({ row, payload }) => [row % SLOTS, payload]));
}

/** The slots of the owner's points that the question's filter is true of; null where it has none. */
function fittingSlots(sql: Sql, owner: OwnerRow, query: IndexQuery): Narrowed {
  return query.where === null ? null : new Set(slotsWhere(sql, owner, { ...query, where: query.where }));
}

type Filtering = Pick<IndexQuery, 'visibility'> & { readonly where: Filter };

function slotsWhere(sql: Sql, { number }: OwnerRow, { visibility, where }: Filtering): number[] {
  const { condition, params } = translate(where, DIALECT);
  // Most of what an owner has may be former versions: where nobody sees them, nothing of them is read.
  const held = visibility.kind === 'live' ? 'AND live = 1' : '';
  const owned = 'row BETWEEN @firstRow AND @lastRow';
  const text = `SELECT row FROM points JOIN details USING (row) WHERE ${owned} ${held} AND ${condition}`;
  const rows = { firstRow: number * SLOTS, lastRow: (number + 1) * SLOTS - 1 };
  return sql.once<{ row: number }>(text, { ...rows, ...params }).map(({ row }) => row % SLOTS);
}

/** Read from what a hit shows: nobody filters so much that columns of their own would pay. */
const DIALECT = sqliteDialect({
  columns: {
    userId: "(payload ->> '$.scope.userId')",
    memoryId: 'memory_id',
    text: "(payload ->> '$.text')",
    category: "(payload ->> '$.category')",
    immutable: "(payload ->> '$.immutable')",
    flagged: "(payload ->> '$.flagged')",
    trust: "(payload ->> '$.trust')",
    confirmations: "(payload ->> '$.confirmations')",
    createdAt: "(payload ->> '$.createdAt')",
    updatedAt: "(payload ->> '$.updatedAt')",
    saidAt: "(payload ->> '$.saidAt.at')",
    validFrom: "(payload ->> '$.validFrom')",
    expiresAt: "(payload ->> '$.expiresAt')",
  },
  lists: { agentId: idsIn('agentId'), runId: idsIn('runId'), appId: idsIn('appId') },
  metadata: "payload -> '$.metadata'",
});

function idsIn(key: 'agentId' | 'runId' | 'appId') {
  return { rows: `SELECT 1 FROM json_each(payload, '$.ids.${key}') AS i WHERE TRUE`, id: 'i.value' };
}
