import type { ApiKey, KeyScope, NewKey, TenantId } from '@slowwave/engine';

/** A key as it is stored. */
export interface KeyRow {
  readonly id: string;
  readonly tenant: TenantId;
  readonly name: string;
  readonly hash: string;
  readonly previous_hash: string | null;
  readonly previous_until: number | null;
  readonly scopes: string;
  readonly user_id: string | null;
  readonly app_id: string | null;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly last_used_at: number | null;
}

export const keyFrom = (row: KeyRow): ApiKey => ({
  id: row.id,
  tenant: row.tenant,
  name: row.name,
  hash: row.hash,
  previous:
    row.previous_hash === null || row.previous_until === null
      ? null
      : { hash: row.previous_hash, until: row.previous_until },
  scopes: row.scopes.split(' ') as KeyScope[],
  userId: row.user_id,
  appId: row.app_id,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  lastUsedAt: row.last_used_at,
});

export const keyColumns = ({ scopes, ...key }: NewKey) => ({ ...key, scopes: scopes.join(' ') });

export const INSERT_KEY = `
  INSERT INTO api_keys (id, tenant, name, hash, scopes, user_id, app_id, created_at, expires_at)
  VALUES (@id, @tenant, @name, @hash, @scopes, @userId, @appId, @createdAt, @expiresAt)`;

export const SELECT_KEYS = 'SELECT k.* FROM api_keys k';
export const FIND_KEY = `${SELECT_KEYS} WHERE k.id = @id`;
export const GET_KEY = `${FIND_KEY} AND k.tenant = @tenant`;
export const ANY_KEY = 'SELECT 1 AS one FROM api_keys LIMIT 1';

export const REVOKE_KEY = `
  UPDATE api_keys SET revoked_at = @now WHERE tenant = @tenant AND id = @id AND revoked_at IS NULL`;

/** Columns on the right are those from before. */
export const ROTATE_KEY = `
  UPDATE api_keys SET hash = @hash, previous_hash = hash, previous_until = @until
  WHERE tenant = @tenant AND id = @id AND revoked_at IS NULL`;

export const KEY_USED = 'UPDATE api_keys SET last_used_at = @at WHERE id = @id';

/** Of a user who is erased: what names the user goes, and with it the key's use. */
export const FORGET_USER_IN_KEYS = `
  UPDATE api_keys SET revoked_at = COALESCE(revoked_at, @now), user_id = NULL, name = ''
  WHERE tenant = @tenant AND user_id = @userId`;
