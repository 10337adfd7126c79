import type { Filter, IndexQuery } from '@slowwave/engine';
import { sqliteDialect } from '../../filter-sql/sqlite.ts';
import { translate } from '../../filter-sql/translate.ts';
import type { Sql } from '../ledger/sql.ts';
import type { OwnerRow } from './owner-table.ts';
import type { Narrowed } from './seen.ts';
import { SLOTS } from './tables.ts';

/** The slots of the owner's points that the question's filter is true of; null where it has none. */
export function fittingSlots(sql: Sql, owner: OwnerRow, query: IndexQuery): Narrowed {
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
const DIALECT = sqliteDialect(
  {
    userId: "(payload ->> '$.scope.userId')",
    agentId: "(payload ->> '$.scope.agentId')",
    runId: "(payload ->> '$.scope.runId')",
    appId: "(payload ->> '$.scope.appId')",
    memoryId: 'memory_id',
    text: "(payload ->> '$.text')",
    category: "(payload ->> '$.category')",
    immutable: "(payload ->> '$.immutable')",
    confirmations: "(payload ->> '$.confirmations')",
    createdAt: "(payload ->> '$.createdAt')",
    updatedAt: "(payload ->> '$.updatedAt')",
    saidAt: "(payload ->> '$.saidAt.at')",
    validFrom: "(payload ->> '$.validFrom')",
    expiresAt: "(payload ->> '$.expiresAt')",
  },
  "payload -> '$.metadata'",
);
