/** Keys of the API. What is stored of a secret is its digest. */
export const SCHEMA_12 = `
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  previous_hash TEXT,
  previous_until INTEGER,
  scopes TEXT NOT NULL,
  user_id TEXT,
  app_id TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER
) STRICT;
CREATE INDEX api_keys_of_tenant ON api_keys (tenant, created_at, id);
CREATE INDEX api_keys_of_user ON api_keys (tenant, user_id) WHERE user_id IS NOT NULL;
`;
