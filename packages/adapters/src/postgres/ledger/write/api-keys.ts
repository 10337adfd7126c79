import type { ApiKey, NewKey, Rotation, TenantId } from '@slowwave/engine';
import { INSERT_KEY, KEY_USED, keyColumns, REVOKE_KEY, ROTATE_KEY } from '../../../ledger/rows/key.ts';
import { getKey } from '../read/keys.ts';
import type { Sql } from '../sql.ts';

interface Named {
  readonly tenant: TenantId;
  readonly id: string;
}

export async function createKey(sql: Sql, { key }: { key: NewKey }): Promise<void> {
  await sql.run(INSERT_KEY, keyColumns(key));
}

export async function revokeKey(sql: Sql, { tenant, id, now }: Named & { now: number }): Promise<ApiKey | null> {
  await sql.run(REVOKE_KEY, { tenant, id, now });
  return getKey(sql, tenant, id);
}

export async function rotateKey(sql: Sql, { tenant, id, hash, until }: Named & Rotation): Promise<ApiKey | null> {
  await sql.run(ROTATE_KEY, { tenant, id, hash, until });
  return getKey(sql, tenant, id);
}

export async function keyUsed(sql: Sql, { id, at }: { id: string; at: number }): Promise<void> {
  await sql.run(KEY_USED, { id, at });
}
