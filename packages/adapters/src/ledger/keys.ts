import type { ApiKey, KeyScope, KeyStore, Link, LinkStore, TenantId } from '@slowwave/engine';
import { DAY_MS } from '@slowwave/engine/storing';
import { type Listing, newestFirst } from './page.ts';
import type { ColumnsOf } from './rows/columns.ts';
import { first, firstAs, lookup, read, run, type Script, storeOf, write } from './script.ts';

export const keyStore = storeOf<KeyStore>('keys', {
  create: write(function* ({ scopes, ...key }) {
    yield* run(
      `INSERT INTO api_keys (id, tenant, name, hash, scopes, user_id, app_id, created_at, expires_at)
       VALUES (@id, @tenant, @name, @hash, @scopes, @userId, @appId, @createdAt, @expiresAt)`,
      { ...key, scopes: scopes.join(' ') },
    );
  }),
  find: lookup((id) => firstAs(keyFrom, 'SELECT * FROM api_keys WHERE id = @id', { id })),
  get: read(loadKey),
  list: read((tenant, page) => newestFirst(KEYS, page, { tenant })),
  revoke: write(function* (tenant, id, now) {
    const text = 'UPDATE api_keys SET revoked_at = @now WHERE tenant = @tenant AND id = @id AND revoked_at IS NULL';
    yield* run(text, { tenant, id, now });
    return yield* loadKey(tenant, id);
  }),
  /** Columns on the right are those from before. */
  rotate: write(function* (tenant, id, rotation) {
    yield* run(
      `UPDATE api_keys SET hash = @hash, previous_hash = hash, previous_until = @until
       WHERE tenant = @tenant AND id = @id AND revoked_at IS NULL`,
      { tenant, id, ...rotation },
    );
    return yield* loadKey(tenant, id);
  }),
  used: write(function* (id, at) {
    yield* run('UPDATE api_keys SET last_used_at = @at WHERE id = @id', { id, at });
  }),
  any: lookup(function* () {
    return (yield* first('SELECT 1 AS one FROM api_keys LIMIT 1')) !== null;
  }),
  seal: write(function* (made) {
    yield* run(`INSERT INTO meta (key, value) VALUES ('seal', @made) ON CONFLICT (key) DO NOTHING`, { made });
    return (
      (yield* firstAs(({ value }: { value: string }) => value, "SELECT value FROM meta WHERE key = 'seal'")) ?? made
    );
  }),
});

function loadKey(tenant: TenantId, id: string): Script<ApiKey | null> {
  return firstAs(keyFrom, 'SELECT * FROM api_keys WHERE id = @id AND tenant = @tenant', { tenant, id });
}

/** Of a user who is erased: what names the user goes, and with it the key's use. */
export const forgetUserInKeys = (of: { tenant: TenantId; userId: string; now: number }): Script<number> =>
  run(
    `UPDATE api_keys SET revoked_at = COALESCE(revoked_at, @now), user_id = NULL, name = ''
     WHERE tenant = @tenant AND user_id = @userId`,
    of,
  );

/** So long after its end a link is still told from one that never was. */
const LINKS_KEPT_MS = 30 * DAY_MS;

export const linkStore = storeOf<LinkStore>('links', {
  create: write(function* ({ id, tenant, userId, hash, createdAt, expiresAt }) {
    const forgotten = { tenant, userId, before: createdAt - LINKS_KEPT_MS };
    yield* run('DELETE FROM links WHERE tenant = @tenant AND user_id = @userId AND expires_at < @before', forgotten);
    yield* run(
      `INSERT INTO links (id, tenant, user_id, hash, created_at, expires_at)
       VALUES (@id, @tenant, @userId, @hash, @createdAt, @expiresAt)`,
      { id, tenant, userId, hash, createdAt, expiresAt },
    );
  }),
  find: lookup(findLink),
  open: write(function* (id, { hash, until }, now) {
    const opened = yield* run(
      `UPDATE links SET opened_at = @now, token_hash = @hash, token_until = @until
       WHERE id = @id AND opened_at IS NULL AND expires_at > @now`,
      { id, hash, until, now },
    );
    return opened === 1;
  }),
  prolong: write(function* (id, until, now) {
    const prolonged = yield* run(
      `UPDATE links SET token_until = CASE WHEN expires_at < @until THEN expires_at ELSE @until END
       WHERE id = @id AND token_until > @now`,
      { id, until, now },
    );
    return prolonged === 1 ? yield* findLink(id) : null;
  }),
  end: write((tenant, userId) => endLinks({ tenant, userId })),
});

function findLink(id: string): Script<Link | null> {
  return firstAs(linkFrom, 'SELECT * FROM links WHERE id = @id', { id });
}

export const endLinks = (of: { tenant: TenantId; userId: string }): Script<number> =>
  run('DELETE FROM links WHERE tenant = @tenant AND user_id = @userId', of);

interface LinkRow extends ColumnsOf<Omit<Link, 'token'>> {
  readonly token_hash: string | null;
  readonly token_until: number | null;
}

const linkFrom = ({ token_hash: hash, token_until: until, ...row }: LinkRow): Link => ({
  id: row.id,
  tenant: row.tenant,
  userId: row.user_id,
  hash: row.hash,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  openedAt: row.opened_at,
  token: hash === null || until === null ? null : { hash, until },
});

interface KeyRow extends ColumnsOf<Omit<ApiKey, 'previous' | 'scopes'>> {
  readonly previous_hash: string | null;
  readonly previous_until: number | null;
  readonly scopes: string;
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

const KEYS: Listing<KeyRow, ApiKey> = {
  select: 'SELECT * FROM api_keys',
  by: ['created_at', 'id'],
  asked: { tenant: 'tenant = @tenant' },
  make: keyFrom,
};
