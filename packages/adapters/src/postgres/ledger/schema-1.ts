/**
 * The first schema. Times are milliseconds since 1970. Every table carries the tenant, or a lane or id which does.
 * What is jsonb is read as a whole, but for what an index or a condition below names. Ids compare byte by byte ("C"),
 * so that lists have one order on every server.
 */
export const SCHEMA_1 = `
CREATE TABLE lanes (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  owner_kind text NOT NULL CHECK (owner_kind IN ('user', 'agent', 'run')),
  owner_id text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN ('idle', 'waiting', 'consolidating')),
  generation bigint NOT NULL,
  epoch bigint NOT NULL,
  consolidation_id text COLLATE "C",
  due_at bigint,
  paused boolean NOT NULL,
  next_position bigint NOT NULL,
  next_seq bigint NOT NULL,
  pending bigint NOT NULL,
  pending_tokens bigint NOT NULL,
  oldest_at bigint,
  newest_at bigint,
  flush_through bigint NOT NULL,
  window_limit bigint,
  attempts bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  UNIQUE (tenant, owner_kind, owner_id)
) WITH (fillfactor = 70);
CREATE INDEX lanes_due ON lanes (due_at) WHERE state <> 'idle' AND NOT paused;
CREATE INDEX lanes_with_work ON lanes (id) WHERE state <> 'idle' AND NOT paused;
CREATE INDEX lanes_of_tenant ON lanes (tenant, created_at, id);

CREATE TABLE scopes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  key text COLLATE "C" NOT NULL,
  user_id text,
  agent_id text,
  run_id text,
  app_id text,
  summary text,
  summary_upto bigint NOT NULL DEFAULT 0,
  summary_revision bigint NOT NULL DEFAULT 0,
  UNIQUE (lane, key)
);

CREATE TABLE batches (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  scope bigint NOT NULL REFERENCES scopes (id),
  settings jsonb NOT NULL,
  metadata jsonb NOT NULL,
  position bigint NOT NULL,
  tokens bigint NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'consolidating', 'consolidated', 'empty', 'parked', 'undone')),
  stage text NOT NULL CHECK (stage IN ('waiting', 'extract', 'decide', 'apply', 'project', 'done')),
  outcome text CHECK (outcome IN ('consolidated', 'empty')),
  attempts bigint NOT NULL,
  failure jsonb,
  consolidation_id text COLLATE "C",
  message_count bigint NOT NULL,
  accepted_at bigint NOT NULL,
  claimed_at bigint,
  applied_at bigint,
  searchable_at bigint,
  UNIQUE (lane, position)
);
CREATE INDEX batches_pending ON batches (lane, position) WHERE state = 'pending';
CREATE INDEX batches_of_tenant ON batches (tenant, accepted_at, id);
CREATE INDEX batches_by_state ON batches (tenant, state, accepted_at, id);
CREATE INDEX batches_of_lane ON batches (lane, accepted_at, id);
CREATE INDEX batches_of_consolidation ON batches (consolidation_id) WHERE consolidation_id IS NOT NULL;

-- Lane and scope are those of the batch, which are checked once.
CREATE TABLE messages (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL,
  scope bigint NOT NULL,
  batch_id text COLLATE "C" NOT NULL REFERENCES batches (id),
  seq bigint NOT NULL,
  client_id text COLLATE "C",
  role text NOT NULL,
  content jsonb NOT NULL,
  name text,
  said_at bigint NOT NULL,
  resent boolean NOT NULL,
  UNIQUE (lane, seq)
);
CREATE INDEX messages_of_batch ON messages (batch_id);
CREATE INDEX messages_of_scope ON messages (scope, seq);
CREATE INDEX messages_by_client_id ON messages (scope, client_id) WHERE client_id IS NOT NULL;

CREATE TABLE idempotency_keys (
  tenant text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  body_hash text NOT NULL,
  batch_id text COLLATE "C" NOT NULL REFERENCES batches (id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (tenant, key)
);

CREATE TABLE consolidations (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  scope bigint NOT NULL REFERENCES scopes (id),
  state text NOT NULL
    CHECK (state IN ('thinking', 'planned', 'waiting', 'applied', 'split', 'parked', 'undone')),
  batch_ids jsonb NOT NULL,
  attempts bigint NOT NULL,
  failure jsonb,
  timings jsonb,
  summary text,
  created_at bigint NOT NULL,
  applied_at bigint
);
CREATE INDEX consolidations_of_tenant ON consolidations (tenant, created_at, id);
CREATE INDEX consolidations_by_state ON consolidations (tenant, state, created_at, id);
CREATE INDEX consolidations_of_lane ON consolidations (lane, created_at, id);

CREATE TABLE answers (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  consolidation_id text COLLATE "C" NOT NULL REFERENCES consolidations (id),
  step text NOT NULL,
  input_hash text NOT NULL,
  text text NOT NULL,
  truncated boolean NOT NULL,
  model text NOT NULL,
  prompt_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  at bigint NOT NULL,
  UNIQUE (consolidation_id, step, input_hash)
);

CREATE TABLE plans (
  consolidation_id text COLLATE "C" NOT NULL REFERENCES consolidations (id),
  round bigint NOT NULL,
  plan jsonb NOT NULL,
  PRIMARY KEY (consolidation_id, round)
);

CREATE TABLE usage (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  consolidation_id text COLLATE "C" NOT NULL,
  step text NOT NULL,
  model text NOT NULL,
  failed boolean NOT NULL,
  prompt_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  at bigint NOT NULL
);
CREATE INDEX usage_of_consolidation ON usage (consolidation_id);

CREATE TABLE memories (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  scope bigint NOT NULL REFERENCES scopes (id),
  timeline jsonb NOT NULL,
  confirmations bigint NOT NULL,
  last_confirmed_at bigint,
  revision bigint NOT NULL,
  version_count bigint NOT NULL,
  live boolean NOT NULL,
  expires_at bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX memories_live ON memories (lane, created_at, id) WHERE live;
CREATE INDEX memories_of_tenant ON memories (tenant, live, version_count);

CREATE TABLE versions (
  memory_id text COLLATE "C" NOT NULL REFERENCES memories (id),
  number bigint NOT NULL,
  text text NOT NULL,
  said_at bigint NOT NULL,
  said_seq bigint NOT NULL,
  valid_from bigint NOT NULL,
  invalid_at bigint,
  superseded_by bigint,
  details jsonb NOT NULL,
  recorded_at bigint NOT NULL,
  PRIMARY KEY (memory_id, number)
);

CREATE TABLE tombstones (
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  text_hash text COLLATE "C" NOT NULL,
  memory_id text COLLATE "C" NOT NULL REFERENCES memories (id),
  deleted_at bigint NOT NULL,
  deleted_seq bigint NOT NULL,
  PRIMARY KEY (lane, text_hash, memory_id)
);

CREATE TABLE events (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  tenant text COLLATE "C" NOT NULL,
  memory_id text COLLATE "C" NOT NULL REFERENCES memories (id),
  revision bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('ADD', 'UPDATE', 'DELETE', 'NONE')),
  actor text NOT NULL,
  consolidation_id text COLLATE "C",
  fact_id text,
  reason text NOT NULL,
  previous text,
  said_at bigint NOT NULL,
  said_seq bigint NOT NULL,
  valid_from bigint NOT NULL,
  recorded_at bigint NOT NULL,
  text text,
  details jsonb,
  source_ids jsonb NOT NULL,
  UNIQUE (memory_id, revision)
);
CREATE INDEX events_of_consolidation ON events (consolidation_id) WHERE consolidation_id IS NOT NULL;

CREATE TABLE event_sources (
  message_id text COLLATE "C" NOT NULL,
  event_seq bigint NOT NULL REFERENCES events (seq),
  PRIMARY KEY (message_id, event_seq)
);

CREATE TABLE outbox (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  memory_id text COLLATE "C" NOT NULL REFERENCES memories (id),
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  consolidation_id text COLLATE "C"
);
CREATE INDEX outbox_of_memory ON outbox (memory_id);
CREATE INDEX outbox_of_lane ON outbox (lane);
CREATE INDEX outbox_of_consolidation ON outbox (consolidation_id) WHERE consolidation_id IS NOT NULL;

CREATE TABLE vectors (
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  fingerprint text COLLATE "C" NOT NULL,
  text_hash text COLLATE "C" NOT NULL,
  vector bytea NOT NULL,
  PRIMARY KEY (lane, fingerprint, text_hash)
);

CREATE TABLE settings (tenant text COLLATE "C" PRIMARY KEY, settings jsonb NOT NULL);

CREATE TABLE reviews (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  scope bigint NOT NULL REFERENCES scopes (id),
  consolidation_id text COLLATE "C" NOT NULL REFERENCES consolidations (id),
  memory_id text COLLATE "C" NOT NULL,
  operation jsonb NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'stale')),
  note text,
  created_at bigint NOT NULL,
  settled_at bigint
);
CREATE INDEX reviews_of_tenant ON reviews (tenant, created_at, id);
CREATE INDEX reviews_by_state ON reviews (tenant, state, created_at, id);
CREATE INDEX reviews_of_lane ON reviews (lane, created_at, id);
CREATE INDEX reviews_of_memory ON reviews (memory_id);

-- The value of a counter is the sum over its slots: writers of one tenant seldom wait for each other.
CREATE TABLE counters (
  tenant text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  slot int NOT NULL,
  value bigint NOT NULL,
  PRIMARY KEY (tenant, name, slot)
) WITH (fillfactor = 50);
`;
