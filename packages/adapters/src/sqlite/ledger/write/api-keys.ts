import type { ApiKey, NewKey, Rotation, TenantId } from '@slowwave/engine';
import { INSERT_KEY, KEY_USED, keyColumns, REVOKE_KEY, ROTATE_KEY } from '../../../ledger/rows/key.ts';
import { getKey } from '../read/keys.ts';
import type { Sql } from '../sql.ts';

interface Named {
  readonly tenant: TenantId;
  readonly id: string;
}

export function createKey(sql: Sql, { key }: { key: NewKey }): void {
  sql.run(INSERT_KEY, keyColumns(key));
}

export function revokeKey(sql: Sql, { tenant, id, now }: Named & { now: number }): ApiKey | null {
  sql.run(REVOKE_KEY, { tenant, id, now });
  return getKey(sql, tenant, id);
}

export function rotateKey(sql: Sql, { tenant, id, hash, until }: Named & Rotation): ApiKey | null {
  sql.run(ROTATE_KEY, { tenant, id, hash, until });
  return getKey(sql, tenant, id);
}

export function keyUsed(sql: Sql, { id, at }: { id: string; at: number }): void {
  sql.run(KEY_USED, { id, at });
}
