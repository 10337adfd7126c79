/** Replays, with the batches of each. `due_at` is null once nobody needs to look at it again. */
export const SCHEMA_7 = `
CREATE TABLE replays (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('live', 'what_if')),
  state TEXT NOT NULL CHECK (state IN ('preparing', 'running', 'done', 'failed', 'discarding', 'discarded')),
  filter TEXT NOT NULL,
  changes TEXT NOT NULL,
  matched INTEGER NOT NULL,
  key TEXT,
  body_hash TEXT,
  failure TEXT,
  result TEXT,
  after_at INTEGER NOT NULL,
  after_id TEXT NOT NULL,
  due_at INTEGER,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  expires_at INTEGER,
  UNIQUE (tenant, key)
) STRICT;
CREATE INDEX replays_of_tenant ON replays (tenant, created_at, id);
CREATE INDEX replays_due ON replays (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE replay_batches (
  replay_id TEXT NOT NULL REFERENCES replays (id),
  batch_id TEXT NOT NULL,
  PRIMARY KEY (replay_id, batch_id)
) STRICT, WITHOUT ROWID;
`;
