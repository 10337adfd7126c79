import type { ApiKey, KeyScope, KeyStore, NewKey, Page, Paged, Rotation, TenantId } from '@slowwave/engine';
import { type Access, asLookup, asRead, asWrite } from './access.ts';
import { pageOf } from './cursor.ts';
import { newestFirst, where } from './page.ts';
import { all, first, run, type Script } from './script.ts';

export const keyStore = ({ read, write }: Access): KeyStore => ({
  create: (key) => write(createKey, key),
  find: (id) => read(findKey, { id }),
  get: (tenant, id) => read(getKey, { tenant, id }),
  list: (tenant, page) => read(listKeys, { tenant, page }),
  revoke: (tenant, id, now) => write(revokeKey, { tenant, id, now }),
  rotate: (tenant, id, rotation) => write(rotateKey, { tenant, id, ...rotation }),
  used: (id, at) => write(keyUsed, { id, at }),
  any: () => read(anyKey, null),
});

interface OneOf {
  readonly tenant: TenantId;
  readonly id: string;
}

const createKey = asWrite('keys.create', function* ({ scopes, ...key }: NewKey): Script<void> {
  yield* run(
    `INSERT INTO api_keys (id, tenant, name, hash, scopes, user_id, app_id, created_at, expires_at)
     VALUES (@id, @tenant, @name, @hash, @scopes, @userId, @appId, @createdAt, @expiresAt)`,
    { ...key, scopes: scopes.join(' ') },
  );
});

const findKey = asLookup('keys.find', function* ({ id }: { id: string }): Script<ApiKey | null> {
  const row = yield* first<KeyRow>('SELECT * FROM api_keys WHERE id = @id', { id });
  return row === null ? null : keyFrom(row);
});

const getKey = asRead('keys.get', loadKey);

function* loadKey({ tenant, id }: OneOf): Script<ApiKey | null> {
  const row = yield* first<KeyRow>('SELECT * FROM api_keys WHERE id = @id AND tenant = @tenant', { tenant, id });
  return row === null ? null : keyFrom(row);
}

interface List {
  readonly tenant: TenantId;
  readonly page: Page;
}

const listKeys = asRead('keys.list', function* ({ tenant, page }: List): Script<Paged<ApiKey>> {
  const newest = newestFirst(page, 'created_at', 'id');
  const conditions = where(['tenant = @tenant', newest.condition]);
  const rows = yield* all<KeyRow>(`SELECT * FROM api_keys ${conditions} ${newest.order}`, {
    tenant,
    ...newest.params,
  });
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.created_at, row.id]);
  return { results: results.map(keyFrom), nextCursor };
});

const revokeKey = asWrite('keys.revoke', function* (of: OneOf & { now: number }): Script<ApiKey | null> {
  const text = 'UPDATE api_keys SET revoked_at = @now WHERE tenant = @tenant AND id = @id AND revoked_at IS NULL';
  yield* run(text, { ...of });
  return yield* loadKey(of);
});

/** Columns on the right are those from before. */
const rotateKey = asWrite('keys.rotate', function* (of: OneOf & Rotation): Script<ApiKey | null> {
  yield* run(
    `UPDATE api_keys SET hash = @hash, previous_hash = hash, previous_until = @until
     WHERE tenant = @tenant AND id = @id AND revoked_at IS NULL`,
    { ...of },
  );
  return yield* loadKey(of);
});

const keyUsed = asWrite('keys.used', function* (use: { id: string; at: number }): Script<void> {
  yield* run('UPDATE api_keys SET last_used_at = @at WHERE id = @id', { ...use });
});

const anyKey = asLookup('keys.any', function* (_: null): Script<boolean> {
  return (yield* first('SELECT 1 AS one FROM api_keys LIMIT 1')) !== null;
});

/** Of a user who is erased: what names the user goes, and with it the key's use. */
export const forgetUserInKeys = (of: { tenant: TenantId; userId: string; now: number }): Script<number> =>
  run(
    `UPDATE api_keys SET revoked_at = COALESCE(revoked_at, @now), user_id = NULL, name = ''
     WHERE tenant = @tenant AND user_id = @userId`,
    of,
  );

/** A key as it is stored. */
interface KeyRow {
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

const keyFrom = (row: KeyRow): ApiKey => ({
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
