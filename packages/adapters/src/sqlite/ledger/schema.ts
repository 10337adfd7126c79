/**
 * Schema 100: every table of the ledger, with its indexes under it. The same tables as PostgreSQL's, in the same order.
 * Never edited once released: a change is a migration (migrations.ts).
 *
 * Times are milliseconds since 1970. Every table carries the tenant, or a lane or id which does. What is stored as JSON is
 * read as a whole. A partial index is used by statements alone that write its condition as it stands here: `NOT paused`,
 * `live`.
 */
export const SCHEMA_100 = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

-- Lanes, and what is said in them

CREATE TABLE lanes (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  owner_kind TEXT NOT NULL CHECK (owner_kind IN ('user', 'agent', 'run')),
  owner_id TEXT NOT NULL,
  erasure TEXT,
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
  -- Old conversations that are brought in go behind what is being said now.
  pending_backfill INTEGER NOT NULL,
  nudged_backfill INTEGER NOT NULL,
  oldest_at INTEGER,
  newest_at INTEGER,
  flush_through INTEGER NOT NULL,
  window_limit INTEGER,
  attempts INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (tenant, owner_kind, owner_id)
) STRICT;
CREATE INDEX lanes_due ON lanes (due_at) WHERE state <> 'idle' AND NOT paused;
CREATE INDEX lanes_with_work ON lanes (id) WHERE state <> 'idle' AND NOT paused;
CREATE INDEX lanes_by_newest ON lanes (newest_at) WHERE state = 'waiting' AND NOT paused;
CREATE INDEX lanes_of_tenant ON lanes (tenant, created_at, id);

CREATE TABLE scopes (
  id INTEGER PRIMARY KEY,
  lane TEXT NOT NULL REFERENCES lanes (id),
  key TEXT NOT NULL,
  user_id TEXT,
  agent_id TEXT,
  run_id TEXT,
  app_id TEXT,
  -- The rolling summary, up to which message it covers, and a number that goes up with its every change.
  summary TEXT,
  summary_upto INTEGER NOT NULL DEFAULT 0,
  summary_revision INTEGER NOT NULL DEFAULT 0,
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
  backfill INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'consolidating', 'consolidated', 'empty', 'parked', 'undone')),
  stage TEXT NOT NULL CHECK (stage IN ('waiting', 'extract', 'decide', 'apply', 'project', 'done')),
  outcome TEXT CHECK (outcome IN ('consolidated', 'empty')),
  attempts INTEGER NOT NULL,
  failure TEXT,
  -- The last failed tries, oldest first.
  failures TEXT NOT NULL DEFAULT '[]',
  consolidation_id TEXT,
  message_count INTEGER NOT NULL,
  accepted_at INTEGER NOT NULL,
  claimed_at INTEGER,
  applied_at INTEGER,
  searchable_at INTEGER,
  stripped_at INTEGER,
  -- What the index is told of the messages: a number that goes up with what changes it and when that was, the number it was
  -- last told (0: nothing yet; -1: an index that was lost), and how many of the messages it has.
  speech_revision INTEGER NOT NULL DEFAULT 1,
  speech_revised_at INTEGER,
  projected_revision INTEGER NOT NULL DEFAULT 0,
  points INTEGER NOT NULL DEFAULT 0,
  UNIQUE (lane, position)
) STRICT;
-- Counting what waits in a lane reads nothing but this index.
CREATE INDEX batches_pending ON batches (lane, position, tokens, accepted_at, backfill) WHERE state = 'pending';
CREATE INDEX batches_consolidating ON batches (lane, position) WHERE state = 'consolidating';
-- How much is still to do is counted from an index that holds nothing else.
CREATE INDEX batches_open ON batches (tenant) WHERE state IN ('pending', 'consolidating');
CREATE INDEX batches_of_tenant ON batches (tenant, accepted_at, id);
CREATE INDEX batches_by_state ON batches (tenant, state, accepted_at, id);
CREATE INDEX batches_of_lane ON batches (lane, accepted_at, id);
CREATE INDEX batches_of_scope ON batches (scope);
CREATE INDEX batches_of_consolidation ON batches (consolidation_id) WHERE consolidation_id IS NOT NULL;
CREATE INDEX batches_to_strip ON batches (tenant, accepted_at)
  WHERE stripped_at IS NULL AND state IN ('consolidated', 'empty', 'undone');
CREATE INDEX batches_unprojected ON batches (projected_revision, id) WHERE outcome IS NOT NULL AND projected_revision < speech_revision;
CREATE INDEX batches_with_points ON batches (tenant, points) WHERE points > 0;

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
  -- What the speaker's own clock showed, and how many minutes it was ahead of UTC: both, or none where that is not known.
  clock_at INTEGER,
  utc_offset INTEGER,
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
CREATE INDEX keys_of_batch ON idempotency_keys (batch_id);

-- What is thought of it

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
  -- The summary it began with.
  summary TEXT,
  created_at INTEGER NOT NULL,
  applied_at INTEGER,
  stripped_at INTEGER
) STRICT;
CREATE INDEX consolidations_of_tenant ON consolidations (tenant, created_at, id);
CREATE INDEX consolidations_by_state ON consolidations (tenant, state, created_at, id);
CREATE INDEX consolidations_of_lane ON consolidations (lane, created_at, id);
CREATE INDEX consolidations_of_scope ON consolidations (scope);
CREATE INDEX consolidations_to_strip ON consolidations (tenant, created_at)
  WHERE stripped_at IS NULL AND state IN ('applied', 'split', 'undone');

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
CREATE INDEX reviews_of_scope ON reviews (scope);
CREATE INDEX reviews_of_consolidation ON reviews (consolidation_id);
CREATE INDEX reviews_of_memory ON reviews (memory_id, created_at, id);

-- Memories

CREATE TABLE memories (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  lane TEXT NOT NULL REFERENCES lanes (id),
  scope INTEGER NOT NULL REFERENCES scopes (id),
  confirmations INTEGER NOT NULL,
  last_confirmed_at INTEGER,
  revision INTEGER NOT NULL,
  version_count INTEGER NOT NULL,
  live INTEGER NOT NULL,
  expires_at INTEGER,
  -- Since when there is a former version to remove; null without one.
  history_from INTEGER,
  -- How much it belongs to its owner's profile.
  profile_rank INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX memories_live ON memories (lane, created_at, id) WHERE live;
CREATE INDEX memories_of_profile ON memories (lane, profile_rank DESC, created_at, id) WHERE live AND profile_rank > 0;
CREATE INDEX memories_of_tenant ON memories (tenant, live, version_count);
CREATE INDEX memories_of_lane ON memories (lane, id);
CREATE INDEX memories_of_scope ON memories (scope);
CREATE INDEX memories_with_history ON memories (tenant, history_from, id) WHERE history_from IS NOT NULL;

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
CREATE INDEX tombstones_of_memory ON tombstones (memory_id);

CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  memory_id TEXT NOT NULL REFERENCES memories (id),
  revision INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('ADD', 'UPDATE', 'DELETE', 'NONE', 'UNDO')),
  actor TEXT NOT NULL,
  consolidation_id TEXT,
  undo_id TEXT,
  retracts TEXT,
  fact_id TEXT,
  reason TEXT NOT NULL,
  previous TEXT,
  -- By what a deletion blocks whose text is removed.
  previous_hash TEXT,
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
CREATE INDEX events_of_undo ON events (undo_id) WHERE undo_id IS NOT NULL;

CREATE TABLE event_sources (
  message_id TEXT NOT NULL,
  event_seq INTEGER NOT NULL REFERENCES events (seq),
  PRIMARY KEY (message_id, event_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX sources_of_event ON event_sources (event_seq);

CREATE TABLE undos (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  lane TEXT NOT NULL REFERENCES lanes (id),
  number INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('undo', 'rollback', 'redo')),
  leads_to INTEGER,
  consolidations TEXT NOT NULL,
  undos TEXT NOT NULL,
  memories INTEGER NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (lane, number)
) STRICT;
CREATE INDEX undos_of_tenant ON undos (tenant, at, id);

-- What the index is told

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

-- Lanes whose changes could not be projected, with when each is tried again.
CREATE TABLE unprojected_lanes (
  lane TEXT PRIMARY KEY NOT NULL,
  failures INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX unprojected_lanes_due ON unprojected_lanes (not_before, lane);

CREATE TABLE vectors (
  lane TEXT NOT NULL REFERENCES lanes (id),
  fingerprint TEXT NOT NULL,
  text_hash TEXT NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (lane, fingerprint, text_hash)
) STRICT;
-- Texts that an embedding model refuses for good have no bytes: they are counted without reading the others.
CREATE INDEX vectors_refused ON vectors (fingerprint) WHERE length(vector) = 0;

-- Replays

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
  -- Null once nobody needs to look at it again.
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
CREATE INDEX replays_of_batch ON replay_batches (batch_id);

-- What was asked of models

CREATE TABLE usage (
  seq INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  lane TEXT NOT NULL,
  consolidation_id TEXT NOT NULL,
  step TEXT NOT NULL,
  model TEXT NOT NULL,
  failed INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX usage_of_consolidation ON usage (consolidation_id);
CREATE INDEX usage_of_lane ON usage (lane, at);

-- A lane's own calls are few; a tenant's are added up by day. Slots are PostgreSQL's, whose writers would wait for each
-- other; here there is one writer and one slot.
CREATE TABLE usage_days (
  tenant TEXT NOT NULL,
  day INTEGER NOT NULL,
  model TEXT NOT NULL,
  slot INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  failed_calls INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  PRIMARY KEY (tenant, day, model, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  slot INTEGER NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (tenant, name, slot)
) STRICT, WITHOUT ROWID;

-- Tenants, and who may do what

CREATE TABLE settings (tenant TEXT PRIMARY KEY, settings TEXT NOT NULL) STRICT;

-- What a day of a tenant may use at most, as the operator says.
CREATE TABLE ceilings (
  tenant TEXT PRIMARY KEY NOT NULL,
  tokens_per_day REAL,
  cost_per_day REAL
) STRICT;

-- What is stored of a secret is its digest.
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

-- Who did what. Rows lie as they are listed. An erasure alone changes entries, and of them only whom they are about.
CREATE TABLE trail (
  tenant TEXT NOT NULL,
  at INTEGER NOT NULL,
  id TEXT NOT NULL,
  actor TEXT NOT NULL,
  session INTEGER NOT NULL,
  action TEXT NOT NULL,
  subject_kind TEXT,
  subject_id TEXT,
  status INTEGER NOT NULL,
  code TEXT,
  request_id TEXT,
  PRIMARY KEY (tenant, at, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX trail_by_actor ON trail (tenant, actor, at, id);
CREATE INDEX trail_by_subject ON trail (tenant, subject_id, at, id) WHERE subject_id IS NOT NULL;
-- Posts are nearly all there is: whoever asks for them reads the table.
CREATE INDEX trail_by_action ON trail (tenant, action, at, id) WHERE action <> 'POST /v1/batches';
CREATE INDEX trail_failed ON trail (tenant, at, id) WHERE status >= 400;
CREATE TRIGGER trail_is_append_only BEFORE UPDATE ON trail
WHEN NEW.subject_kind IS NOT 'erasure'
  OR (NEW.tenant, NEW.at, NEW.id, NEW.actor, NEW.session, NEW.action, NEW.status, NEW.code)
    IS NOT (OLD.tenant, OLD.at, OLD.id, OLD.actor, OLD.session, OLD.action, OLD.status, OLD.code)
BEGIN
  SELECT RAISE(ABORT, 'entries of the trail are not changed');
END;

-- Which lanes are cut off, and what became of them. The owner's id stays only until the rows are gone.
CREATE TABLE erasures (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  owner_kind TEXT,
  owner_id TEXT,
  owner_hash TEXT NOT NULL,
  lane TEXT,
  state TEXT NOT NULL CHECK (state IN ('requested', 'erasing', 'compacting', 'erased')),
  counts TEXT NOT NULL,
  remains TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  erased_at INTEGER
) STRICT;
CREATE INDEX erasures_open ON erasures (requested_at, id) WHERE state <> 'erased';
CREATE INDEX erasures_of_owner ON erasures (owner_hash);

-- Who wants to be told of what happens, and what they are told

CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  user_id TEXT,
  app_id TEXT,
  active INTEGER NOT NULL,
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_until INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  failing_since INTEGER,
  held_until INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  paused_at INTEGER
) STRICT;
CREATE INDEX webhooks_of_tenant ON webhooks (tenant, created_at, id);

CREATE TABLE webhook_deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  webhook TEXT NOT NULL REFERENCES webhooks (id),
  tenant TEXT NOT NULL,
  lane TEXT NOT NULL,
  subject TEXT NOT NULL,
  event_id TEXT NOT NULL,
  type TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  attempts_before INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  status INTEGER,
  error TEXT
) STRICT;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at, seq) WHERE state = 'waiting';
-- What is due for one webhook, without looking at what is due for others.
CREATE INDEX webhook_deliveries_due_for ON webhook_deliveries (webhook, due_at, seq) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (webhook, subject, seq) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (state) WHERE state <> 'delivered';
CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook, created_at, id);
CREATE INDEX webhook_deliveries_of_lane ON webhook_deliveries (lane, id);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (created_at);

-- The graph: what was said of it, and what follows; who studies which consolidation

CREATE TABLE graph_entities (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  lane TEXT NOT NULL REFERENCES lanes (id),
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  kind TEXT NOT NULL,
  self INTEGER NOT NULL,
  aliases TEXT NOT NULL,
  merged_into TEXT,
  counts INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  -- Since when the index has not been told; null once it has.
  unprojected_at INTEGER
) STRICT;
CREATE UNIQUE INDEX graph_entities_self ON graph_entities (lane) WHERE self = 1;
CREATE INDEX graph_entities_by_name ON graph_entities (lane, name_key, id);
CREATE INDEX graph_entities_of_lane ON graph_entities (lane, id);
CREATE INDEX graph_entities_merged ON graph_entities (lane, merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX graph_entities_unprojected ON graph_entities (unprojected_at, id) WHERE unprojected_at IS NOT NULL;
CREATE INDEX graph_entities_unprojected_of_lane ON graph_entities (lane, unprojected_at, id) WHERE unprojected_at IS NOT NULL;

CREATE TABLE graph_names (
  entity TEXT NOT NULL REFERENCES graph_entities (id),
  lane TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (entity, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX graph_names_of_lane ON graph_names (lane, name);

CREATE TABLE graph_statements (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  lane TEXT NOT NULL REFERENCES lanes (id),
  kind TEXT NOT NULL,
  source TEXT NOT NULL,
  relationship TEXT,
  destination TEXT,
  single INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  consolidation_id TEXT,
  undos_before INTEGER NOT NULL,
  counts INTEGER NOT NULL,
  statement TEXT NOT NULL
) STRICT;
CREATE INDEX graph_statements_of_lane ON graph_statements (lane, id);
CREATE INDEX graph_statements_of_source ON graph_statements (lane, source, relationship, destination);
CREATE INDEX graph_statements_of_destination ON graph_statements (lane, destination) WHERE destination IS NOT NULL;
CREATE INDEX graph_statements_single ON graph_statements (lane, source, relationship) WHERE single = 1;
CREATE INDEX graph_statements_merging ON graph_statements (lane) WHERE kind IN ('same', 'apart');
CREATE INDEX graph_statements_of_consolidation ON graph_statements (lane, consolidation_id, recorded_at);

CREATE TABLE graph_relations (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  lane TEXT NOT NULL REFERENCES lanes (id),
  source TEXT NOT NULL,
  relationship TEXT NOT NULL,
  destination TEXT NOT NULL,
  valid_from INTEGER NOT NULL,
  invalid_at INTEGER,
  ended_by TEXT,
  said_at INTEGER NOT NULL,
  said_seq INTEGER NOT NULL,
  confirmations INTEGER NOT NULL,
  message_ids TEXT NOT NULL,
  memory_ids TEXT NOT NULL,
  quote TEXT,
  revision INTEGER NOT NULL,
  counts INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  unprojected_at INTEGER
) STRICT;
CREATE INDEX graph_relations_of_lane ON graph_relations (lane, id);
CREATE INDEX graph_relations_of_group ON graph_relations (lane, source, relationship, destination) WHERE counts = 1;
CREATE INDEX graph_relations_of_source ON graph_relations
  (lane, source, confirmations DESC, said_at DESC, said_seq DESC, id, valid_from, invalid_at) WHERE counts = 1;
CREATE INDEX graph_relations_of_destination ON graph_relations
  (lane, destination, confirmations DESC, said_at DESC, said_seq DESC, id, valid_from, invalid_at) WHERE counts = 1;
CREATE INDEX graph_relations_in_time ON graph_relations (lane, valid_from, id) WHERE counts = 1;
CREATE INDEX graph_relations_unprojected ON graph_relations (unprojected_at, id) WHERE unprojected_at IS NOT NULL;
CREATE INDEX graph_relations_unprojected_of_lane ON graph_relations (lane, unprojected_at, id) WHERE unprojected_at IS NOT NULL;

CREATE TABLE graph_studies (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  consolidation_id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  lane TEXT NOT NULL REFERENCES lanes (id),
  state TEXT NOT NULL CHECK (state IN ('pending', 'applied', 'parked')),
  attempts INTEGER NOT NULL,
  failure TEXT,
  plan TEXT,
  not_before INTEGER NOT NULL,
  requested_at INTEGER NOT NULL,
  applied_at INTEGER
) STRICT;
CREATE INDEX graph_studies_next ON graph_studies (seq) WHERE state = 'pending';
CREATE INDEX graph_studies_pending ON graph_studies (lane, seq) WHERE state = 'pending';
CREATE INDEX graph_studies_parked ON graph_studies (seq) WHERE state = 'parked';
-- An erasure takes the lane's row last: what refers to it is looked for by an index.
CREATE INDEX graph_studies_of_lane ON graph_studies (lane, seq);

CREATE TABLE graph_turns (
  lane TEXT PRIMARY KEY REFERENCES lanes (id),
  epoch INTEGER NOT NULL,
  held TEXT,
  held_until INTEGER NOT NULL
) STRICT;

CREATE TABLE graph_proposals (
  consolidation_id TEXT NOT NULL,
  lane TEXT NOT NULL REFERENCES lanes (id),
  source TEXT NOT NULL,
  destination TEXT NOT NULL,
  likeness REAL NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (consolidation_id, source, destination)
) STRICT;
CREATE INDEX graph_proposals_of_lane ON graph_proposals (lane);
`;
