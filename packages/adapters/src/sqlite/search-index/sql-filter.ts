import type { Filter, IndexQuery } from '@slowwave/engine';
import { sqliteDialect, translate } from '../../filter-sql/index.ts';
import type { Sql } from '../ledger/sql.ts';
import { OWNER_NAMED, ownerKey } from './format.ts';

/** The rows of the owner's points that the question's filter is true of; null where it has none. */
export function fittingRows(sql: Sql, query: IndexQuery): ReadonlySet<number> | null {
  return query.where === null ? null : new Set(rowsWhere(sql, query, query.where));
}

function rowsWhere(sql: Sql, query: IndexQuery, where: Filter): number[] {
  const { condition, params } = translate(where, DIALECT);
  // Most of what an owner has may be former versions: where nobody sees them, nothing of them is read.
  const held = query.visibility.kind === 'live' ? 'AND live = 1' : '';
  const text = `SELECT row FROM points WHERE owner = (${SELECT_OWNER}) ${held} AND ${condition}`;
  return sql.once<{ row: number }>(text, { ...ownerKey(query), ...params }).map(({ row }) => row);
}

const SELECT_OWNER = `SELECT number FROM owners WHERE ${OWNER_NAMED}`;

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
    saidAt: 'said_at',
    validFrom: 'valid_from',
    expiresAt: 'expires_at',
  },
  "payload -> '$.metadata'",
);
