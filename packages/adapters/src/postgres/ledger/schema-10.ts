/** Keys of the API. What is stored of a secret is its digest. */
export const SCHEMA_10 = `
CREATE TABLE api_keys (
  id text PRIMARY KEY,
  tenant text NOT NULL,
  name text NOT NULL,
  hash text NOT NULL,
  previous_hash text,
  previous_until bigint,
  scopes text NOT NULL,
  user_id text,
  app_id text,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint
);
CREATE INDEX api_keys_of_tenant ON api_keys (tenant, created_at, id);
CREATE INDEX api_keys_of_user ON api_keys (tenant, user_id) WHERE user_id IS NOT NULL;
ALTER TABLE api_keys ALTER name SET STATISTICS 0, ALTER user_id SET STATISTICS 0, ALTER app_id SET STATISTICS 0;
`;
