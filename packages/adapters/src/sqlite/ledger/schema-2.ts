/** What tenants have chosen, and operations that wait for a person; those are read as a whole. */
export const SCHEMA_2 = `
CREATE TABLE settings (tenant TEXT PRIMARY KEY, settings TEXT NOT NULL) STRICT;

CREATE TABLE reviews (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  lane TEXT NOT NULL REFERENCES lanes (id),
  scope INTEGER NOT NULL REFERENCES scopes (id),
  consolidation_id TEXT NOT NULL REFERENCES consolidations (id),
  memory_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'stale')),
  note TEXT,
  created_at INTEGER NOT NULL,
  settled_at INTEGER
) STRICT;
CREATE INDEX reviews_of_tenant ON reviews (tenant, created_at, id);
CREATE INDEX reviews_by_state ON reviews (tenant, state, created_at, id);
CREATE INDEX reviews_of_lane ON reviews (lane, created_at, id);
CREATE INDEX reviews_of_memory ON reviews (memory_id);
`;
