import type { ApiKey, Page, Paged, TenantId } from '@slowwave/engine';
import { pageOf } from '../../../ledger/cursor.ts';
import { newestFirst, where } from '../../../ledger/page.ts';
import { ANY_KEY, FIND_KEY, GET_KEY, type KeyRow, keyFrom, SELECT_KEYS } from '../../../ledger/rows/key.ts';
import type { Sql } from '../sql.ts';

export function findKey(sql: Sql, id: string): ApiKey | null {
  const row = sql.get<KeyRow>(FIND_KEY, { id });
  return row === null ? null : keyFrom(row);
}

export function getKey(sql: Sql, tenant: TenantId, id: string): ApiKey | null {
  const row = sql.get<KeyRow>(GET_KEY, { tenant, id });
  return row === null ? null : keyFrom(row);
}

export function listKeys(sql: Sql, { tenant, page }: { tenant: TenantId; page: Page }): Paged<ApiKey> {
  const newest = newestFirst(page, 'k.created_at', 'k.id');
  const conditions = where(['k.tenant = @tenant', newest.condition]);
  const rows = sql.all<KeyRow>(`${SELECT_KEYS} ${conditions} ${newest.order}`, { tenant, ...newest.params });
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.created_at, row.id]);
  return { results: results.map(keyFrom), nextCursor };
}

export const anyKey = (sql: Sql): boolean => sql.get(ANY_KEY) !== null;
