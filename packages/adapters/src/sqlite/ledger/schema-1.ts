/**
 * The first schema. Times are milliseconds since 1970. Every table carries the tenant, or a lane or id which does.
 * What is stored as JSON is read as a whole.
 */
export const SCHEMA_1 = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE lanes (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  owner_kind TEXT NOT NULL CHECK (owner_kind IN ('user', 'agent', 'run')),
  owner_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('idle', 'waiting', 'consolidating')),
  generation INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  consolidation_id TEXT,
  due_at INTEGER,
  paused INTEGER NOT NULL,
  next_position INTEGER NOT NULL,
  next_seq INTEGER NOT NULL,
  pending INTEGER NOT NULL,
  pending_tokens INTEGER NOT NULL,
  oldest_at INTEGER,
  newest_at INTEGER,
  flush_through INTEGER NOT NULL,
  window_limit INTEGER,
  attempts INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (tenant, owner_kind, owner_id)
) STRICT;
CREATE INDEX lanes_due ON lanes (due_at) WHERE state <> 'idle' AND paused = 0;
CREATE INDEX lanes_with_work ON lanes (id) WHERE state <> 'idle' AND paused = 0;
CREATE INDEX lanes_of_tenant ON lanes (tenant, created_at, id);

CREATE TABLE scopes (
  id INTEGER PRIMARY KEY,
  lane TEXT NOT NULL REFERENCES lanes (id),
  key TEXT NOT NULL,
  user_id TEXT,
  agent_id TEXT,
  run_id TEXT,
  app_id TEXT,
  summary TEXT,
  UNIQUE (lane, key)
) STRICT;

CREATE TABLE batches (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  lane TEXT NOT NULL REFERENCES lanes (id),
  scope INTEGER NOT NULL REFERENCES scopes (id),
  settings TEXT NOT NULL,
  metadata TEXT NOT NULL,
  position INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'consolidating', 'consolidated', 'empty', 'parked', 'undone')),
  stage TEXT NOT NULL CHECK (stage IN ('waiting', 'extract', 'decide', 'apply', 'project', 'done')),
  outcome TEXT CHECK (outcome IN ('consolidated', 'empty')),
  attempts INTEGER NOT NULL,
  failure TEXT,
  consolidation_id TEXT,
  message_count INTEGER NOT NULL,
  accepted_at INTEGER NOT NULL,
  claimed_at INTEGER,
  applied_at INTEGER,
  searchable_at INTEGER,
  UNIQUE (lane, position)
) STRICT;
CREATE INDEX batches_pending ON batches (lane, position, tokens, accepted_at) WHERE state = 'pending';
CREATE INDEX batches_of_tenant ON batches (tenant, accepted_at, id);
CREATE INDEX batches_by_state ON batches (tenant, state, accepted_at, id);
CREATE INDEX batches_of_lane ON batches (lane, accepted_at, id);
CREATE INDEX batches_of_consolidation ON batches (consolidation_id) WHERE consolidation_id IS NOT NULL;

CREATE TABLE messages (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  lane TEXT NOT NULL REFERENCES lanes (id),
  scope INTEGER NOT NULL REFERENCES scopes (id),
  batch_id TEXT NOT NULL REFERENCES batches (id),
  seq INTEGER NOT NULL,
  client_id TEXT,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  name TEXT,
  said_at INTEGER NOT NULL,
  resent INTEGER NOT NULL,
  UNIQUE (lane, seq)
) STRICT;
CREATE INDEX messages_of_batch ON messages (batch_id);
CREATE INDEX messages_of_scope ON messages (scope, seq);
CREATE INDEX messages_by_client_id ON messages (scope, client_id) WHERE client_id IS NOT NULL;

CREATE TABLE idempotency_keys (
  tenant TEXT NOT NULL,
  key TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  batch_id TEXT NOT NULL REFERENCES batches (id),
  PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE consolidations (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  lane TEXT NOT NULL REFERENCES lanes (id),
  scope INTEGER NOT NULL REFERENCES scopes (id),
  state TEXT NOT NULL
    CHECK (state IN ('thinking', 'planned', 'waiting', 'applied', 'split', 'parked', 'undone')),
  batch_ids TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  failure TEXT,
  timings TEXT,
  created_at INTEGER NOT NULL,
  applied_at INTEGER
) STRICT;
CREATE INDEX consolidations_of_tenant ON consolidations (tenant, created_at, id);
CREATE INDEX consolidations_by_state ON consolidations (tenant, state, created_at, id);
CREATE INDEX consolidations_of_lane ON consolidations (lane, created_at, id);

CREATE TABLE answers (
  seq INTEGER PRIMARY KEY,
  consolidation_id TEXT NOT NULL REFERENCES consolidations (id),
  step TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  text TEXT NOT NULL,
  truncated INTEGER NOT NULL,
  model TEXT NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (consolidation_id, step, input_hash)
) STRICT;

CREATE TABLE plans (
  consolidation_id TEXT NOT NULL REFERENCES consolidations (id),
  round INTEGER NOT NULL,
  plan TEXT NOT NULL,
  PRIMARY KEY (consolidation_id, round)
) STRICT;

CREATE TABLE usage (
  seq INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  consolidation_id TEXT NOT NULL,
  step TEXT NOT NULL,
  model TEXT NOT NULL,
  failed INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX usage_of_consolidation ON usage (consolidation_id);

CREATE TABLE memories (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  lane TEXT NOT NULL REFERENCES lanes (id),
  scope INTEGER NOT NULL REFERENCES scopes (id),
  timeline TEXT NOT NULL,
  confirmations INTEGER NOT NULL,
  last_confirmed_at INTEGER,
  revision INTEGER NOT NULL,
  version_count INTEGER NOT NULL,
  live INTEGER NOT NULL,
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX memories_live ON memories (lane, created_at, id) WHERE live = 1;
CREATE INDEX memories_of_tenant ON memories (tenant, live, version_count);

CREATE TABLE versions (
  memory_id TEXT NOT NULL REFERENCES memories (id),
  number INTEGER NOT NULL,
  text TEXT NOT NULL,
  said_at INTEGER NOT NULL,
  said_seq INTEGER NOT NULL,
  valid_from INTEGER NOT NULL,
  invalid_at INTEGER,
  superseded_by INTEGER,
  details TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (memory_id, number)
) STRICT;

CREATE TABLE tombstones (
  lane TEXT NOT NULL REFERENCES lanes (id),
  text_hash TEXT NOT NULL,
  memory_id TEXT NOT NULL REFERENCES memories (id),
  deleted_at INTEGER NOT NULL,
  deleted_seq INTEGER NOT NULL,
  PRIMARY KEY (lane, text_hash, memory_id)
) STRICT;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  memory_id TEXT NOT NULL REFERENCES memories (id),
  revision INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('ADD', 'UPDATE', 'DELETE', 'NONE')),
  actor TEXT NOT NULL,
  consolidation_id TEXT,
  fact_id TEXT,
  reason TEXT NOT NULL,
  previous TEXT,
  said_at INTEGER NOT NULL,
  said_seq INTEGER NOT NULL,
  valid_from INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  text TEXT,
  details TEXT,
  source_ids TEXT NOT NULL,
  UNIQUE (memory_id, revision)
) STRICT;
CREATE INDEX events_of_consolidation ON events (consolidation_id) WHERE consolidation_id IS NOT NULL;

CREATE TABLE event_sources (
  message_id TEXT NOT NULL,
  event_seq INTEGER NOT NULL REFERENCES events (seq),
  PRIMARY KEY (message_id, event_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE outbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_id TEXT NOT NULL REFERENCES memories (id),
  tenant TEXT NOT NULL,
  lane TEXT NOT NULL REFERENCES lanes (id),
  consolidation_id TEXT
) STRICT;
CREATE INDEX outbox_of_memory ON outbox (memory_id);
CREATE INDEX outbox_of_lane ON outbox (lane);
CREATE INDEX outbox_of_consolidation ON outbox (consolidation_id) WHERE consolidation_id IS NOT NULL;

CREATE TABLE vectors (
  lane TEXT NOT NULL REFERENCES lanes (id),
  fingerprint TEXT NOT NULL,
  text_hash TEXT NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (lane, fingerprint, text_hash)
) STRICT;

CREATE TABLE counters (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;
`;
