import { EngineError, ID_ALPHABET } from '@slowwave/engine/storing';

/** States of batches that have come to an end: kept in `counters` by triggers, for there is no end to their number. */
export const ENDED = "('consolidated', 'empty', 'undone')";

/**
 * Messages of batches that are given by their ids, as a condition on the batch's number. Of a join PostgreSQL would make one with all
 * messages there are while the table is young, and go on so while it grows.
 */
export const ofBatches = (batch: string, ids: string): string =>
  `${batch} IN FEW (SELECT number FROM batches WHERE id IN :${ids};)`;

/** The id of a message of a batch, as the engine makes it of fewer than so many. */
export const messageId = (message: string, batch: string): string => {
  const digit = (place: string): string => `substr('${ID_ALPHABET}', ${message}.place ${place} + 1, 1)`;
  const follows = `'msg_' || substr(${batch}.id, 5, 22) || '00' || ${digit('/ 32')} || ${digit('% 32')} || substr(${batch}.id, 31)`;
  return `coalesce(${message}.id, ${follows})`;
};
export const PLACES = 1_024;

/** A message m with what its batch b and its lane l know. */
export const LANE_MESSAGE = `${messageId('m', 'b')} AS id, m.number, m.place, l.tenant, l.id AS lane, m.scope, b.id AS batch_id, m.seq, m.client_id, m.role, m.content, m.unhidden, m.name, m.trust,
    m.said_at, m.clock_at, m.utc_offset, m.resent, m.batch`;

/** The condition that a lane is its owner's: it is not cut off, or only asleep. */
export const hasOwner = (lane: string): string => `${lane}.erasure IS NOT DISTINCT FROM ${lane}.cold`;

/**
 * Schema 100: every table of the ledger, with its indexes under it, written once for both dialects. Never edited once
 * released: a change is a migration (migrate.ts of each dialect, which also holds what only one of them has).
 *
 * Times are milliseconds since 1970. Every table carries the tenant, or a lane or id which does. What is jsonb is read as a
 * whole, but for what an index or a condition below names. Ids compare byte by byte ("C"), so that lists have one order on
 * every server. SQLite uses a partial index only for statements that write its condition as it stands here, like `live`.
 *
 * Lists go by a time, and by the id where that is the same: an index of many rows ends with the time, and the few rows of one moment
 * are sorted.
 *
 * It is written as PostgreSQL reads it, with these words for one dialect:
 *   hex             hexadecimal digits, kept as the bytes that they spell
 *   packed_json     JSON, and packed_text a text, in the form of packed.ts: nothing in it is looked for by a statement
 *   packed_record   JSON in the form of rows/packed-record.ts, of which statements find nothing but marks of ids
 *   UNNOTED         the server keeps no notes on this column: they quote values of it, and no erasure gets there
 *   WITHOUT ROWID   SQLite keeps the rows in the order of their key
 *   AUTOINCREMENT   SQLite never gives a number again
 */
const SCHEMA_100 = `
CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL);

-- Lanes, and what is said in them

CREATE TABLE lanes (
  -- What has a row for each memory refers to its lane by this.
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  tenant text COLLATE "C" NOT NULL,
  owner_kind text NOT NULL CHECK (owner_kind IN ('user', 'agent', 'run')),
  owner_id text COLLATE "C" UNNOTED NOT NULL,
  erasure text COLLATE "C",
  state text NOT NULL CHECK (state IN ('idle', 'waiting', 'consolidating')),
  generation bigint NOT NULL,
  epoch bigint NOT NULL,
  consolidation_id text COLLATE "C",
  due_at bigint,
  next_position bigint NOT NULL,
  next_seq bigint NOT NULL,
  pending bigint NOT NULL,
  pending_tokens bigint NOT NULL,
  pending_exchanges bigint NOT NULL DEFAULT 0,
  -- Old conversations that are brought in go behind what is being said now.
  pending_backfill bigint NOT NULL,
  nudged_backfill boolean NOT NULL,
  oldest_at bigint,
  newest_at bigint,
  -- How long the owner usually lets pass before saying something.
  pace_ms bigint,
  -- When the owner wanted nothing remembered, oldest first; null: never.
  pauses jsonb,
  flush_through bigint NOT NULL,
  window_limit bigint,
  attempts bigint NOT NULL,
  -- The canary for whose undo no turn is claimed.
  held text COLLATE "C",
  -- Batches up to this position that were undone for a canary are consolidated in the windows that they had.
  kept_windows bigint NOT NULL DEFAULT 0,
  -- The segment in which all of it is while its owner sleeps; its row is cut off by that name then. null: it is in this ledger.
  cold text COLLATE "C",
  woken_at bigint,
  -- No work of the owner begins before this, since somebody carries it to another cell.
  leaving_until bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  UNIQUE (tenant, owner_kind, owner_id)
) WITH (fillfactor = 70); -- each batch changes its lane: the new row finds room beside the old one
CREATE INDEX lanes_due ON lanes (due_at) WHERE state <> 'idle';
CREATE INDEX lanes_with_work ON lanes (id) WHERE state <> 'idle';
CREATE INDEX lanes_by_newest ON lanes (newest_at) WHERE state = 'waiting';
CREATE INDEX lanes_held ON lanes (held) WHERE held IS NOT NULL;
CREATE INDEX lanes_of_tenant ON lanes (tenant, created_at);
CREATE INDEX lanes_by_activity ON lanes (tenant, updated_at);

CREATE TABLE scopes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  lane bigint NOT NULL REFERENCES lanes (number),
  -- A digest of its ids.
  key hex NOT NULL,
  user_id text UNNOTED,
  agent_id text UNNOTED,
  run_id text UNNOTED,
  app_id text UNNOTED,
  -- The rolling summary, from and up to which message it covers, of how many it was made, and a number that goes up with its
  -- every change.
  summary text UNNOTED,
  summary_from bigint,
  summary_count bigint NOT NULL DEFAULT 0,
  summary_upto bigint NOT NULL DEFAULT 0,
  summary_revision bigint NOT NULL DEFAULT 0,
  -- The least sure class of all that its summaries were ever made of.
  summary_trust text,
  UNIQUE (lane, key)
);

CREATE TABLE batches (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  tenant text COLLATE "C" NOT NULL,
  lane bigint NOT NULL REFERENCES lanes (number),
  -- Of the lane, which gives its scopes up after its batches: nothing looks for batches by it.
  scope bigint NOT NULL,
  settings jsonb UNNOTED NOT NULL,
  metadata jsonb UNNOTED NOT NULL,
  position bigint NOT NULL,
  tokens bigint NOT NULL,
  exchanges bigint NOT NULL,
  backfill boolean NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'consolidating', 'consolidated', 'empty', 'parked', 'undone')),
  stage text NOT NULL CHECK (stage IN ('waiting', 'extract', 'decide', 'apply', 'project', 'done')),
  outcome text CHECK (outcome IN ('consolidated', 'empty')),
  attempts bigint NOT NULL,
  failure jsonb UNNOTED,
  -- The last failed tries, oldest first.
  failures jsonb UNNOTED NOT NULL DEFAULT '[]',
  -- By its number.
  consolidation bigint,
  -- Consolidations of it that were undone before it was consolidated again, oldest first.
  formers jsonb NOT NULL DEFAULT '[]',
  message_count bigint NOT NULL,
  -- The API key that posted it.
  key_id text COLLATE "C",
  accepted_at bigint NOT NULL,
  claimed_at bigint,
  applied_at bigint,
  searchable_at bigint,
  stripped_at bigint,
  -- It came, or came to its end, when what is as old had been stripped already: see retention.ts.
  late boolean NOT NULL DEFAULT false,
  -- What the index has of the messages: a number that goes up with what changes it (0: there is nothing to project yet) and
  -- when that was, the number it was last projected at (-1: an index that was lost), and how many of the messages it has.
  speech_revision bigint NOT NULL DEFAULT 0,
  speech_revised_at bigint,
  projected_revision bigint NOT NULL DEFAULT 0,
  points bigint NOT NULL DEFAULT 0,
  UNIQUE (lane, position)
);
CREATE INDEX batches_consolidating ON batches (lane, position) WHERE state = 'consolidating';
-- How much is still to do is counted from an index that holds nothing else.
CREATE INDEX batches_open ON batches (tenant) WHERE state IN ('pending', 'consolidating');
CREATE INDEX batches_of_tenant ON batches (tenant, accepted_at, state);
-- Nearly all are consolidated: whoever asks for those goes through all of the tenant.
CREATE INDEX batches_by_state ON batches (tenant, state, accepted_at) WHERE state <> 'consolidated';
CREATE INDEX batches_of_consolidation ON batches (consolidation) WHERE consolidation IS NOT NULL;
CREATE INDEX batches_late ON batches (tenant, accepted_at) WHERE late AND stripped_at IS NULL;
CREATE INDEX batches_unprojected ON batches (projected_revision, id) WHERE projected_revision < speech_revision;

CREATE TABLE messages (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- null: it follows from that of the batch and the place in it, as it does in lane_messages.
  id text COLLATE "C",
  place int,
  -- Lane and scope are those of the batch, which are checked once. Lane and batch by their numbers.
  lane bigint NOT NULL,
  scope bigint NOT NULL,
  batch bigint NOT NULL REFERENCES batches (number),
  seq bigint NOT NULL,
  client_id text COLLATE "C" UNNOTED,
  role text NOT NULL,
  content jsonb UNNOTED NOT NULL,
  -- The content as it was said, while something of it is hidden; null: nothing is.
  unhidden jsonb UNNOTED,
  name text UNNOTED,
  -- How it was marked; null: its role says whose word it is.
  trust text,
  said_at bigint NOT NULL,
  -- What the speaker's own clock showed, and how many minutes it was ahead of UTC: both, or none where that is not known.
  clock_at bigint,
  utc_offset bigint,
  resent boolean NOT NULL,
  UNIQUE (lane, seq)
);
CREATE UNIQUE INDEX messages_by_own_id ON messages (id) WHERE id IS NOT NULL;
CREATE INDEX messages_of_batch ON messages (batch);
CREATE INDEX messages_of_scope ON messages (scope, seq);
CREATE INDEX messages_by_client_id ON messages (scope, client_id) WHERE client_id IS NOT NULL;

-- Messages with what their lane and batch know.
CREATE VIEW lane_messages AS
  SELECT ${LANE_MESSAGE}
  FROM messages m JOIN batches b ON b.number = m.batch JOIN lanes l ON l.number = m.lane;

-- What batches say that nobody has claimed yet: all of a batch as one value, which its first claim turns into rows of messages.
CREATE TABLE unclaimed_messages (
  batch_id text COLLATE "C" PRIMARY KEY REFERENCES batches (id),
  -- The number of the first in its lane, and how far that had seen the clock.
  seq bigint NOT NULL,
  seen_until bigint NOT NULL,
  messages text UNNOTED NOT NULL
);

CREATE TABLE idempotency_keys (
  tenant text COLLATE "C" NOT NULL,
  key text COLLATE "C" UNNOTED NOT NULL,
  body_hash text NOT NULL,
  -- Taken before its batch is stored: of two posts with one key the second waits here.
  batch_id text COLLATE "C" NOT NULL REFERENCES batches (id) DEFERRABLE INITIALLY DEFERRED,
  PRIMARY KEY (tenant, key)
) WITHOUT ROWID;
CREATE INDEX keys_of_batch ON idempotency_keys (batch_id);

-- What is thought of it

CREATE TABLE consolidations (
  -- Batches and events refer to it by this.
  number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  tenant text COLLATE "C" NOT NULL,
  lane bigint NOT NULL REFERENCES lanes (number),
  -- That of its batches, which are checked.
  scope bigint NOT NULL,
  state text NOT NULL
    CHECK (state IN ('thinking', 'planned', 'waiting', 'applied', 'split', 'parked', 'undone')),
  batch_ids jsonb NOT NULL,
  attempts bigint NOT NULL,
  failure jsonb UNNOTED,
  -- All that was thought while it was open, once it has ended: see kept-thoughts.ts. null: nothing, or rows of answers and plans.
  thought packed_record UNNOTED,
  -- What was measured of it as it was applied, and the chat model it was made by; null: nothing.
  figures packed_json,
  -- The summary it began with.
  summary text UNNOTED,
  -- The canary whose changes it is made with.
  variant text COLLATE "C",
  -- The rung of the tenant's economy when it was pinned; null: none.
  rung bigint,
  created_at bigint NOT NULL,
  applied_at bigint,
  stripped_at bigint,
  late boolean NOT NULL DEFAULT false
);
CREATE INDEX consolidations_of_tenant ON consolidations (tenant, created_at);
-- Nearly all are applied: those are among all of their tenant.
CREATE INDEX consolidations_by_state ON consolidations (tenant, state, created_at) WHERE state <> 'applied';
CREATE INDEX consolidations_of_lane ON consolidations (lane, created_at);
CREATE INDEX consolidations_with_summary ON consolidations (lane) WHERE summary IS NOT NULL;
CREATE INDEX consolidations_of_variant ON consolidations (variant, created_at, id) WHERE variant IS NOT NULL;
CREATE INDEX consolidations_of_variant_in_lane ON consolidations (variant, lane) WHERE variant IS NOT NULL;
CREATE INDEX consolidations_late ON consolidations (tenant, created_at) WHERE late AND stripped_at IS NULL;
-- Until when all that a tenant has is stripped, but for what is late.
CREATE TABLE stripped (
  tenant text COLLATE "C" NOT NULL,
  kind text NOT NULL CHECK (kind IN ('batches', 'consolidations')),
  until bigint NOT NULL,
  PRIMARY KEY (tenant, kind)
) WITHOUT ROWID;

-- Consolidations of memories instead of messages.
CREATE TABLE nights (
  consolidation_id text COLLATE "C" PRIMARY KEY REFERENCES consolidations (id),
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  state text NOT NULL CHECK (state IN ('thinking', 'waiting', 'applied', 'discarded', 'stale', 'failed')),
  -- Why its plan waits, or waited, for a person.
  why text CHECK (why IN ('preview', 'share')),
  operations bigint NOT NULL DEFAULT 0,
  memories bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  ended_at bigint
);
CREATE INDEX nights_open ON nights (lane) WHERE state IN ('thinking', 'waiting');
CREATE INDEX nights_of_lane ON nights (lane, created_at, consolidation_id);
CREATE INDEX nights_of_tenant ON nights (tenant, created_at, consolidation_id);

-- Who works on the night of a lane, when it was looked at last, and what its nights have judged, by hash.
CREATE TABLE sleeps (
  lane text COLLATE "C" PRIMARY KEY REFERENCES lanes (id),
  epoch bigint NOT NULL,
  held text COLLATE "C",
  held_until bigint NOT NULL,
  not_before bigint NOT NULL DEFAULT 0,
  looked_at bigint NOT NULL DEFAULT 0,
  next_at bigint,
  seen jsonb NOT NULL DEFAULT '[]'
);

CREATE TABLE answers (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  consolidation_id text COLLATE "C" NOT NULL REFERENCES consolidations (id),
  step text NOT NULL,
  input_hash text NOT NULL,
  text packed_text UNNOTED NOT NULL,
  truncated boolean NOT NULL,
  model text NOT NULL,
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  at bigint NOT NULL,
  -- The undone consolidation that it was given to, where it serves again.
  former text COLLATE "C",
  UNIQUE (consolidation_id, step, input_hash)
);

CREATE TABLE plans (
  consolidation_id text COLLATE "C" NOT NULL REFERENCES consolidations (id),
  round bigint NOT NULL,
  plan packed_json UNNOTED NOT NULL,
  -- The id of each memory that was shown to the model, and at which revision.
  shown jsonb NOT NULL,
  PRIMARY KEY (consolidation_id, round)
);

CREATE TABLE reviews (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  scope bigint NOT NULL REFERENCES scopes (id),
  -- Null: no plan has it, somebody rated the memory.
  consolidation_id text COLLATE "C" REFERENCES consolidations (id),
  memory_id text COLLATE "C" NOT NULL,
  operation jsonb UNNOTED NOT NULL,
  -- What so many users of the agent whose lane it is have in common; null: it is about what somebody said.
  topic text,
  state text NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'stale')),
  note text UNNOTED,
  created_at bigint NOT NULL,
  settled_at bigint
);
CREATE INDEX reviews_of_tenant ON reviews (tenant, created_at, id);
CREATE INDEX reviews_by_state ON reviews (tenant, state, created_at, id);
CREATE INDEX reviews_of_lane ON reviews (lane, created_at, id);
CREATE INDEX reviews_of_scope ON reviews (scope);
CREATE INDEX reviews_of_consolidation ON reviews (consolidation_id);
CREATE INDEX reviews_of_memory ON reviews (memory_id, created_at, id);
CREATE INDEX reviews_of_topic ON reviews (tenant, lane, topic) WHERE topic IS NOT NULL;

-- What the memories of users are about that stand under an agent: categories, by the hash of the owner. Nothing else of them is known here.
CREATE TABLE topics (
  tenant text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  topic text COLLATE "C" NOT NULL,
  owner_hash text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, agent_id, topic, owner_hash)
);
CREATE INDEX topics_of_owner ON topics (tenant, owner_hash);

-- Memories

CREATE TABLE memories (
  -- Its versions and events refer to it by this.
  number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  tenant text COLLATE "C" NOT NULL,
  lane bigint NOT NULL REFERENCES lanes (number),
  -- Of its lane.
  scope bigint NOT NULL,
  confirmations int NOT NULL,
  last_confirmed_at bigint,
  revision int NOT NULL,
  version_count int NOT NULL,
  live boolean NOT NULL,
  -- When it was forgotten; null: it is not, whether it holds or no longer does.
  forgotten_at bigint,
  -- Since when nobody finds anything of it, by when that was recorded; null: something is found, or all of it is erased.
  gone_since bigint,
  expires_at bigint,
  -- Since when there is a former version to remove; null without one.
  history_from bigint,
  -- How much it belongs to its owner's profile.
  profile_rank int NOT NULL,
  -- Where it stands there, and who said so; null: nobody did.
  placed jsonb,
  -- A night concluded it, whether it stands or has fallen.
  concluded int NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX memories_concluded ON memories (lane, id) WHERE concluded = 1;
CREATE INDEX memories_live ON memories (lane, created_at) WHERE live;
CREATE INDEX memories_of_profile ON memories (lane, profile_rank DESC, created_at, id) WHERE live AND profile_rank > 0;
CREATE INDEX memories_of_lane ON memories (lane, number);
CREATE INDEX memories_forgotten ON memories (lane, forgotten_at) WHERE forgotten_at IS NOT NULL;
CREATE INDEX memories_gone ON memories (tenant, gone_since, id) WHERE gone_since IS NOT NULL;
CREATE INDEX memories_with_history ON memories (tenant, history_from, id) WHERE history_from IS NOT NULL;

-- What follows from the events of a memory, for statements that ask about versions: whoever reads a memory makes its versions of its
-- events. A version has the number of an event, and what is null here reads as it does there.
CREATE TABLE versions (
  memory bigint NOT NULL REFERENCES memories (number),
  number int NOT NULL,
  superseded_by int,
  invalid_at bigint,
  text text UNNOTED,
  said_at bigint,
  said_seq bigint,
  valid_from bigint,
  details jsonb UNNOTED,
  recorded_at bigint,
  PRIMARY KEY (memory, number)
) WITHOUT ROWID;

-- The ids (agent, run, app) under which a memory was said or confirmed, and when for the first and the last time.
CREATE TABLE memory_ids (
  memory_id text COLLATE "C" NOT NULL REFERENCES memories (id),
  tenant text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('agent', 'run', 'app')),
  id text COLLATE "C" UNNOTED NOT NULL,
  first bigint NOT NULL,
  last bigint NOT NULL,
  -- The lane of the memory, where the index does not have the id: there are newer ones of the kind. Else null.
  beyond text COLLATE "C",
  PRIMARY KEY (memory_id, kind, id)
) WITHOUT ROWID;
CREATE INDEX memory_ids_beyond ON memory_ids (beyond, kind, id) WHERE beyond IS NOT NULL;
CREATE INDEX memory_ids_of_tenant ON memory_ids (tenant, kind, id, memory_id);

CREATE TABLE tombstones (
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  text_hash text COLLATE "C" NOT NULL,
  memory_id text COLLATE "C" NOT NULL REFERENCES memories (id),
  deleted_at bigint NOT NULL,
  deleted_seq bigint NOT NULL,
  PRIMARY KEY (lane, text_hash, memory_id)
);
CREATE INDEX tombstones_of_memory ON tombstones (memory_id);

CREATE TABLE events (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  memory bigint NOT NULL REFERENCES memories (number),
  revision int NOT NULL,
  -- Of a deletion: nobody is to find again what it ends (1); another memory has what was said of it (2).
  forgets int NOT NULL,
  said_at bigint NOT NULL,
  said_seq bigint NOT NULL,
  -- null: since it was said.
  valid_from bigint,
  recorded_at bigint NOT NULL,
  -- null: it follows from that of the memory and the revision.
  id text COLLATE "C",
  kind text NOT NULL CHECK (kind IN ('ADD', 'UPDATE', 'DELETE', 'NONE', 'UNDO', 'FEEDBACK')),
  -- null: a consolidation.
  actor text,
  -- By its number.
  consolidation bigint,
  undo_id text COLLATE "C",
  retracts jsonb,
  fact_id text,
  -- null: nothing similar was remembered.
  reason text UNNOTED,
  previous text UNNOTED,
  -- By what a deletion blocks whose text is removed.
  previous_hash text,
  text text UNNOTED,
  -- Without what source_ids and the text say.
  details jsonb UNNOTED,
  source_ids jsonb NOT NULL,
  -- The ids (agent, run, app) under which it was said; null: of the memory wherever it was said.
  under jsonb UNNOTED,
  -- Of feedback: which version, and how it was rated.
  rated jsonb,
  UNIQUE (memory, revision)
);
CREATE UNIQUE INDEX events_by_own_id ON events (id) WHERE id IS NOT NULL;
CREATE INDEX events_of_consolidation ON events (consolidation) WHERE consolidation IS NOT NULL;
CREATE INDEX events_of_undo ON events (undo_id) WHERE undo_id IS NOT NULL;
CREATE INDEX events_of_feedback ON events (recorded_at) WHERE kind = 'FEEDBACK';

-- The words of a message by which somebody asked to have something forgotten, for each memory that it is about; null: none.
CREATE TABLE wishes (
  consolidation_id text COLLATE "C" NOT NULL REFERENCES consolidations (id),
  number bigint NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  quote text UNNOTED,
  memory_id text COLLATE "C",
  PRIMARY KEY (consolidation_id, number)
);
CREATE INDEX wishes_of_message ON wishes (message_id);
CREATE INDEX wishes_about_nothing ON wishes (tenant, message_id) WHERE memory_id IS NULL;
CREATE INDEX wishes_about ON wishes (memory_id) WHERE memory_id IS NOT NULL;

-- The messages that events came from, by their places.
CREATE TABLE event_sources (
  lane bigint NOT NULL,
  message_seq bigint NOT NULL,
  event_seq bigint NOT NULL REFERENCES events (seq),
  PRIMARY KEY (lane, message_seq, event_seq)
) WITHOUT ROWID;
CREATE INDEX sources_of_event ON event_sources (event_seq);

CREATE TABLE undos (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  number bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('undo', 'rollback', 'redo', 'withdrawal')),
  leads_to bigint,
  consolidations jsonb NOT NULL,
  undos jsonb NOT NULL,
  memories bigint NOT NULL,
  at bigint NOT NULL,
  UNIQUE (lane, number)
);
CREATE INDEX undos_of_tenant ON undos (tenant, at, id);

-- What is projected to the index

CREATE TABLE outbox (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY AUTOINCREMENT,
  memory_id text COLLATE "C" NOT NULL REFERENCES memories (id),
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  consolidation_id text COLLATE "C"
);
CREATE INDEX outbox_of_memory ON outbox (memory_id);
CREATE INDEX outbox_of_lane ON outbox (lane);
CREATE INDEX outbox_of_consolidation ON outbox (consolidation_id) WHERE consolidation_id IS NOT NULL;

-- Lanes whose changes could not be projected, with when each is tried again.
CREATE TABLE unprojected_lanes (
  lane text COLLATE "C" PRIMARY KEY NOT NULL,
  failures bigint NOT NULL,
  not_before bigint NOT NULL,
  code text COLLATE "C" NOT NULL,
  message text COLLATE "C" UNNOTED NOT NULL,
  at bigint NOT NULL
);
CREATE INDEX unprojected_lanes_due ON unprojected_lanes (not_before, lane);

-- Embedding models, each by what it is known by. None ever goes: vectors refer to it by its number.
CREATE TABLE embedders (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  fingerprint text COLLATE "C" NOT NULL UNIQUE
);

CREATE TABLE vectors (
  lane bigint NOT NULL REFERENCES lanes (number),
  embedder bigint NOT NULL,
  text_hash hex NOT NULL,
  vector bytea UNNOTED NOT NULL,
  UNIQUE (lane, embedder, text_hash)
);
-- Texts that an embedding model refuses for good have no bytes: they are counted without reading the others.
CREATE INDEX vectors_refused ON vectors (embedder) WHERE length(vector) = 0;

-- Replays

CREATE TABLE replays (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  kind text NOT NULL CHECK (kind IN ('live', 'what_if', 'suite')),
  state text NOT NULL CHECK (state IN ('preparing', 'running', 'done', 'failed', 'discarding', 'discarded')),
  filter jsonb UNNOTED NOT NULL,
  changes jsonb NOT NULL,
  matched bigint NOT NULL,
  key text COLLATE "C",
  body_hash text,
  failure jsonb UNNOTED,
  result jsonb UNNOTED,
  after_at bigint NOT NULL,
  after_id text COLLATE "C" NOT NULL,
  -- Null once nobody needs to look at it again.
  due_at bigint,
  created_at bigint NOT NULL,
  finished_at bigint,
  spent bigint NOT NULL DEFAULT 0,
  -- What open calls may use besides.
  reserved jsonb NOT NULL DEFAULT '[]',
  expires_at bigint,
  UNIQUE (tenant, key)
);
CREATE INDEX replays_of_tenant ON replays (tenant, created_at, id);
CREATE INDEX replays_due ON replays (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE replay_batches (
  replay_id text COLLATE "C" NOT NULL REFERENCES replays (id),
  batch_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (replay_id, batch_id)
) WITHOUT ROWID;
CREATE INDEX replays_of_batch ON replay_batches (batch_id);

-- Suites

CREATE TABLE suites (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  origin text NOT NULL CHECK (origin IN ('production', 'file')),
  masked bigint NOT NULL,
  margins jsonb NOT NULL,
  created_at bigint NOT NULL,
  UNIQUE (tenant, name)
);
CREATE INDEX suites_of_tenant ON suites (tenant, created_at, id);

CREATE TABLE suite_cases (
  id text COLLATE "C" PRIMARY KEY,
  suite_id text COLLATE "C" NOT NULL REFERENCES suites (id),
  place bigint NOT NULL,
  -- Null for cases from files: they are of nobody here.
  lane text COLLATE "C",
  owner_kind text NOT NULL CHECK (owner_kind IN ('user', 'agent', 'run')),
  owner_id text UNNOTED NOT NULL,
  content jsonb UNNOTED NOT NULL,
  UNIQUE (suite_id, place)
);
CREATE INDEX suite_cases_of_lane ON suite_cases (lane);

-- What people think of runs: ids and verdicts, no words of any owner.
CREATE TABLE suite_assessments (
  run_id text COLLATE "C" NOT NULL REFERENCES replays (id),
  item text COLLATE "C" NOT NULL,
  assessor text COLLATE "C" NOT NULL,
  verdict text NOT NULL CHECK (verdict IN ('agree', 'wrong', 'complete', 'missing')),
  PRIMARY KEY (run_id, item, assessor)
) WITHOUT ROWID;

-- Canaries

CREATE TABLE canaries (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  state text NOT NULL
    CHECK (state IN ('running', 'done', 'halted', 'undoing', 'undone', 'promoted', 'stopped')),
  changes jsonb NOT NULL,
  steps jsonb NOT NULL,
  step bigint NOT NULL,
  step_at bigint NOT NULL,
  bounds jsonb NOT NULL,
  undo text NOT NULL CHECK (undo IN ('automatic', 'manual')),
  budget jsonb NOT NULL,
  watched jsonb,
  halt jsonb UNNOTED,
  waiting jsonb UNNOTED,
  -- Null once nobody needs to look at it again.
  due_at bigint,
  created_at bigint NOT NULL,
  finished_at bigint
);
CREATE INDEX canaries_of_tenant ON canaries (tenant, created_at, id);
CREATE INDEX canaries_due ON canaries (due_at) WHERE due_at IS NOT NULL;
CREATE UNIQUE INDEX canaries_open ON canaries (tenant) WHERE finished_at IS NULL;

CREATE TABLE canary_lanes (
  canary text COLLATE "C" NOT NULL REFERENCES canaries (id),
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  state text NOT NULL CHECK (state IN ('held', 'replayed', 'done', 'left')),
  consolidations bigint NOT NULL,
  batches bigint NOT NULL,
  -- The position of the last batch that waits again.
  through bigint NOT NULL,
  expected jsonb NOT NULL,
  used jsonb NOT NULL,
  PRIMARY KEY (canary, lane)
) WITHOUT ROWID;
CREATE INDEX canary_lanes_of_lane ON canary_lanes (lane);

-- What was asked of models

-- Single calls, for 35 days. Money is in billionths; null: the model has no price.
CREATE TABLE usage (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL,
  consolidation_id text COLLATE "C" NOT NULL,
  app_id text COLLATE "C" UNNOTED,
  key_id text COLLATE "C",
  step text COLLATE "C" NOT NULL,
  cause text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN ('sent', 'answered', 'refused')),
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  cost bigint,
  took_ms bigint NOT NULL,
  at bigint NOT NULL
);
CREATE INDEX usage_of_consolidation ON usage (consolidation_id);
CREATE INDEX usage_of_lane ON usage (lane, at);
CREATE INDEX usage_of_tenant ON usage (tenant, at);
CREATE INDEX usage_by_time ON usage (at);

-- What calls were for. None ever goes: sums of calls refer to it by its number, and it says nothing of an owner.
CREATE TABLE usage_kinds (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  step text COLLATE "C" NOT NULL,
  cause text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  UNIQUE (tenant, step, cause, model)
);

-- Answered calls of consolidations that have ended, by the hour, for as long: the calls are kept with their consolidations.
CREATE TABLE usage_hours (
  kind int NOT NULL,
  -- The hour, as the moment when it began.
  at bigint NOT NULL,
  lane bigint NOT NULL,
  -- Empty: none.
  app_id text COLLATE "C" UNNOTED NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  calls bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  cost bigint NOT NULL,
  unpriced bigint NOT NULL,
  took_ms bigint NOT NULL,
  PRIMARY KEY (kind, at, lane, app_id, key_id)
) WITHOUT ROWID;
CREATE INDEX usage_hours_of_lane ON usage_hours (lane, at);

-- The same with what its kind and its lane say.
CREATE VIEW usage_by_hour AS
  SELECT k.tenant, l.id AS lane, h.at, nullif(h.app_id, '') AS app_id, nullif(h.key_id, '') AS key_id, k.step, k.cause, k.model,
    h.calls, h.prompt_tokens, h.cached_tokens, h.completion_tokens, h.cost, h.unpriced, h.took_ms
  FROM usage_hours h JOIN usage_kinds k ON k.number = h.kind JOIN lanes l ON l.number = h.lane;

-- For ever. The use of a day is the sum over its slots, as the value of a counter is: on PostgreSQL writers of one tenant seldom wait for
-- each other. SQLite has one writer and one slot.
CREATE TABLE usage_days (
  tenant text COLLATE "C" NOT NULL,
  day int NOT NULL,
  model text COLLATE "C" NOT NULL,
  step text COLLATE "C" NOT NULL,
  cause text COLLATE "C" NOT NULL,
  slot int NOT NULL,
  calls bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  cost bigint NOT NULL,
  unpriced bigint NOT NULL,
  took_ms bigint NOT NULL,
  refused bigint NOT NULL,
  unanswered_calls bigint NOT NULL,
  unanswered_prompt_tokens bigint NOT NULL,
  unanswered_completion_tokens bigint NOT NULL,
  unanswered_cost bigint NOT NULL,
  unanswered_unpriced bigint NOT NULL,
  PRIMARY KEY (tenant, day, model, step, cause, slot)
) WITHOUT ROWID WITH (fillfactor = 50);

-- What owners (by their lane), apps and keys have asked of models, by day: for a week, to see who uses far more than is usual.
CREATE TABLE uses (
  tenant text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('owner', 'app', 'key')),
  day int NOT NULL,
  who text COLLATE "C" UNNOTED NOT NULL,
  slot int NOT NULL,
  calls bigint NOT NULL,
  tokens bigint NOT NULL,
  PRIMARY KEY (day, tenant, kind, who, slot)
) WITHOUT ROWID WITH (fillfactor = 50);

CREATE TABLE use_medians (
  tenant text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  day int NOT NULL,
  peers bigint NOT NULL,
  calls bigint NOT NULL,
  tokens bigint NOT NULL,
  PRIMARY KEY (tenant, kind, day)
) WITHOUT ROWID;
CREATE INDEX use_medians_by_day ON use_medians (day);

-- Who is held for the rest of a day; null: nobody let go of it.
CREATE TABLE holds (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('owner', 'app', 'key')),
  who text COLLATE "C" UNNOTED NOT NULL,
  day int NOT NULL,
  measure text NOT NULL CHECK (measure IN ('calls', 'tokens')),
  used bigint NOT NULL,
  most bigint NOT NULL,
  held_at bigint NOT NULL,
  released_at bigint,
  UNIQUE (tenant, kind, who, day)
);
CREATE INDEX holds_of_tenant ON holds (tenant, held_at, id);
CREATE INDEX holds_by_day ON holds (day);

-- What is counted per tenant because its rows may be gone (accepted, erased) or are too many to add up each time: batches that
-- have come to an end by their state, memories, versions and owners, which triggers keep in step with the rows.
CREATE TABLE counters (
  tenant text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  slot int NOT NULL,
  value bigint NOT NULL,
  PRIMARY KEY (tenant, name, slot)
) WITHOUT ROWID WITH (fillfactor = 50);

-- Tenants, and who may do what

-- What conversations were told last: ids and versions, and nothing of what they say.
CREATE TABLE tellings (
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  conversation text COLLATE "C" UNNOTED NOT NULL,
  told jsonb NOT NULL,
  told_at bigint NOT NULL,
  PRIMARY KEY (lane, conversation)
);
CREATE INDEX tellings_by_time ON tellings (told_at);

-- What runs work on: one row for each version.
CREATE TABLE task_states (
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  run_id text COLLATE "C" UNNOTED NOT NULL,
  version bigint NOT NULL,
  latest boolean NOT NULL,
  app_id text COLLATE "C" UNNOTED,
  document jsonb UNNOTED NOT NULL,
  -- The caller's key of the write, and a hash of what was sent with it.
  idempotency_key text COLLATE "C" UNNOTED,
  body_hash text,
  created_at bigint NOT NULL,
  written_at bigint NOT NULL,
  ended_at bigint,
  -- This version or one before it was written while its owner wanted nothing remembered.
  paused bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (lane, run_id, version)
);
CREATE INDEX task_states_latest ON task_states (lane, written_at, run_id) WHERE latest;
CREATE INDEX task_states_ended ON task_states (tenant, ended_at) WHERE latest AND ended_at IS NOT NULL;

CREATE TABLE settings (
  tenant text COLLATE "C" PRIMARY KEY,
  settings jsonb NOT NULL
);

-- What a day of a tenant may use at most, as the operator says.
CREATE TABLE ceilings (
  tenant text COLLATE "C" PRIMARY KEY NOT NULL,
  tokens_per_day double precision,
  cost_per_day double precision
);

-- Copies of what a tenant has in common, taken over from its home: of which epoch.
CREATE TABLE tenant_copies (
  tenant text COLLATE "C" PRIMARY KEY NOT NULL,
  epoch bigint NOT NULL,
  version text NOT NULL
);

-- What part of a tenant's daily limits may be used in this cell. A tenant without a row has no other cell.
CREATE TABLE tenant_shares (
  tenant text COLLATE "C" PRIMARY KEY NOT NULL,
  epoch bigint NOT NULL,
  part double precision NOT NULL,
  until bigint NOT NULL,
  day int NOT NULL,
  limits text NOT NULL,
  elsewhere double precision NOT NULL,
  is_last bigint NOT NULL,
  wants_at double precision NOT NULL,
  wants bigint NOT NULL
);
CREATE INDEX tenant_shares_wanting ON tenant_shares (tenant) WHERE wants = 1;

-- How far tenants economise today. One that saves nothing has no row.
CREATE TABLE economies (
  tenant text COLLATE "C" PRIMARY KEY NOT NULL,
  day int NOT NULL,
  rung bigint NOT NULL,
  highest bigint NOT NULL,
  limits text NOT NULL,
  since bigint NOT NULL
);

-- What is stored of a secret is its digest.
CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  name text UNNOTED NOT NULL,
  hash text NOT NULL,
  previous_hash text,
  previous_until bigint,
  scopes text NOT NULL,
  user_id text UNNOTED,
  app_id text UNNOTED,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint
);
CREATE INDEX api_keys_of_tenant ON api_keys (tenant, created_at, id);
CREATE INDEX api_keys_of_user ON api_keys (tenant, user_id) WHERE user_id IS NOT NULL;

-- Links to somebody's own page. Like keys, and each is opened once: from then on another secret counts, for a short time.
CREATE TABLE links (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" UNNOTED NOT NULL,
  hash text NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  opened_at bigint,
  token_hash text,
  token_until bigint
);
CREATE INDEX links_of_user ON links (tenant, user_id, expires_at);

-- Who did what. On SQLite rows lie as they are listed. An erasure alone changes entries, and of them only whom they are about: triggers
-- refuse anything else (migrate.ts of each dialect).
CREATE TABLE trail (
  tenant text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  actor text COLLATE "C" NOT NULL,
  session bigint NOT NULL,
  action text COLLATE "C" NOT NULL,
  subject_kind text,
  subject_id text COLLATE "C" UNNOTED,
  status bigint NOT NULL,
  code text,
  request_id text COLLATE "C" UNNOTED,
  PRIMARY KEY (tenant, at, id)
) WITHOUT ROWID;
CREATE INDEX trail_by_actor ON trail (tenant, actor, at, id);
CREATE INDEX trail_by_subject ON trail (tenant, subject_id, at, id) WHERE subject_id IS NOT NULL;
CREATE INDEX trail_by_action ON trail (tenant, action, at, id);
CREATE INDEX trail_failed ON trail (tenant, at, id) WHERE status >= 400;

-- Nearly all that is done is to post batches: what one actor posted in a stretch of time is one row. Nothing but more ever changes it.
CREATE TABLE trail_posts (
  tenant text COLLATE "C" NOT NULL,
  stretch bigint NOT NULL,
  actor text COLLATE "C" NOT NULL,
  -- Of many that came at a time the id of the first; empty: of those that came one by one.
  part text COLLATE "C" NOT NULL,
  entries text UNNOTED NOT NULL,
  PRIMARY KEY (tenant, stretch, actor, part)
) WITHOUT ROWID;
CREATE INDEX trail_posts_by_actor ON trail_posts (tenant, actor, stretch, part);

-- Which lanes are cut off, and what became of them. The owner's id stays only until the rows are gone.
CREATE TABLE erasures (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  owner_kind text,
  owner_id text UNNOTED,
  owner_hash text NOT NULL,
  lane text COLLATE "C",
  state text NOT NULL CHECK (state IN ('requested', 'erasing', 'compacting', 'erased')),
  counts jsonb NOT NULL,
  remains jsonb NOT NULL,
  requested_at bigint NOT NULL,
  erased_at bigint,
  -- Of an owner that went elsewhere: whether its rows are still going. Null: it was erased.
  departed text CHECK (departed IN ('going', 'gone'))
);
CREATE INDEX erasures_open ON erasures (requested_at, id) WHERE state <> 'erased';
CREATE INDEX erasures_of_owner ON erasures (owner_hash);

-- Owners that went elsewhere with everything, and where they are: nobody makes a second one here.
CREATE TABLE away (
  -- Stands for tenant and owner: who is erased elsewhere leaves no name here. It begins with the bits.
  key text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  -- What the owner's ids carry.
  bits bigint NOT NULL,
  -- And the epoch from which on the directory knows it.
  cell text COLLATE "C" NOT NULL,
  epoch bigint NOT NULL,
  departed_at bigint NOT NULL,
  until bigint NOT NULL
);
CREATE INDEX away_with_bits ON away (tenant, bits);
CREATE INDEX away_until ON away (until);

-- Slots that take no new owners here, since another cell does.
CREATE TABLE closed_slots (
  first_slot bigint PRIMARY KEY,
  last_slot bigint NOT NULL
);

-- Questions of backfill that a provider is asked together, at a lower price.
CREATE TABLE bulk_jobs (
  id text COLLATE "C" PRIMARY KEY,
  state text NOT NULL CHECK (state IN ('created', 'submitted', 'cancelling', 'cleaning')),
  -- Somebody in it was erased.
  erasing boolean NOT NULL,
  -- How the provider calls it and its files.
  remote jsonb,
  tries bigint NOT NULL,
  due_at bigint NOT NULL,
  created_at bigint NOT NULL
);
CREATE INDEX bulk_jobs_due ON bulk_jobs (due_at);
CREATE INDEX bulk_jobs_erasing ON bulk_jobs (id) WHERE erasing;

CREATE TABLE bulk_questions (
  id text COLLATE "C" PRIMARY KEY,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  consolidation_id text COLLATE "C" NOT NULL REFERENCES consolidations (id),
  step text NOT NULL,
  input_hash text NOT NULL,
  attempts bigint NOT NULL,
  call jsonb UNNOTED NOT NULL,
  chars bigint NOT NULL,
  state text NOT NULL CHECK (state IN ('open', 'taken_back', 'answered', 'failed')),
  job text COLLATE "C",
  asked_at bigint NOT NULL,
  UNIQUE (consolidation_id, step, input_hash)
);
CREATE INDEX bulk_questions_of_lane ON bulk_questions (lane);
CREATE INDEX bulk_questions_of_job ON bulk_questions (job) WHERE job IS NOT NULL;
CREATE INDEX bulk_questions_open ON bulk_questions (asked_at) WHERE state = 'open';
CREATE INDEX bulk_questions_over ON bulk_questions (asked_at) WHERE state <> 'open';

-- Owners of a bundle that arrive, or have arrived. Until the last line is taken the lane is hidden as one that is erased is: it
-- has this id in the place of an erasure's, and its owner another name.
CREATE TABLE imports (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  owner_kind text NOT NULL,
  owner_id text COLLATE "C" UNNOTED NOT NULL,
  -- Where and when the lines were read, as digests that its erasures may have, and a moment.
  owner_hashes jsonb NOT NULL,
  read_at bigint NOT NULL,
  -- Of all lines: how many, and the checksum of the last.
  lines bigint NOT NULL,
  last_sum text NOT NULL,
  -- Of those that are taken.
  taken bigint NOT NULL,
  sum text NOT NULL,
  -- What the lane goes on with.
  life jsonb,
  -- Of moves between cells: a later one of the same owner is not thrown away for an earlier one.
  attempt bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  finished_at bigint
);
CREATE INDEX imports_of_owner ON imports (tenant, owner_kind, owner_id);
CREATE INDEX imports_of_lane ON imports (lane);

-- Objects that hold what owners have left to sleep. Each is noted before it is written, and until it is deleted.
CREATE TABLE segments (
  name text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  -- Of the owner, as ids carry them.
  bits bigint NOT NULL,
  state text NOT NULL CHECK (state IN ('written', 'cooling', 'cold', 'waking', 'dropped')),
  -- Of its lines: how many, and the checksum of the last.
  lines bigint NOT NULL,
  last_sum text NOT NULL,
  bytes bigint NOT NULL,
  memories bigint NOT NULL,
  -- The oldest thing of each kind that retention counts the age of.
  oldest jsonb NOT NULL,
  -- When its state was entered.
  since bigint NOT NULL
);
CREATE INDEX segments_of_lane ON segments (lane);
CREATE INDEX segments_of_bits ON segments (bits) WHERE state IN ('cooling', 'cold', 'waking');
CREATE INDEX segments_of_tenant ON segments (tenant, name) WHERE state IN ('cooling', 'cold', 'waking');
CREATE INDEX segments_by_state ON segments (state, since, name);

-- What answers told to whom, and what became of it. No text of a memory: told holds packed ids with versions. Rows lie in the
-- order of their ids, which rise with time: what is old is one piece at the beginning.
CREATE TABLE receipts (
  id text COLLATE "C" PRIMARY KEY,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  at bigint NOT NULL,
  route text NOT NULL CHECK (route IN ('search', 'context', 'recall')),
  agent_id text UNNOTED,
  run_id text UNNOTED,
  app_id text UNNOTED,
  own_app boolean NOT NULL,
  question text UNNOTED,
  filters text UNNOTED,
  as_of bigint,
  position bigint NOT NULL,
  told bytea UNNOTED NOT NULL,
  -- How many further rows have the rest of what was told; -1: it is one of them.
  parts bigint NOT NULL,
  outcome text CHECK (outcome IN ('good', 'bad'))
) WITHOUT ROWID;
CREATE INDEX receipts_of_lane ON receipts (lane, at, id);
CREATE INDEX receipts_judged ON receipts (at) WHERE outcome IS NOT NULL;

-- What answers led to that told a version, in thousandths of an answer.
CREATE TABLE credits (
  memory_id text COLLATE "C" NOT NULL REFERENCES memories (id),
  version bigint NOT NULL,
  good bigint NOT NULL,
  bad bigint NOT NULL,
  changed_at bigint NOT NULL,
  PRIMARY KEY (memory_id, version)
) WITHOUT ROWID;

-- Who wants to be notified of what happens, and of what they are notified

CREATE TABLE webhooks (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  name text UNNOTED NOT NULL,
  url text UNNOTED NOT NULL,
  events text NOT NULL,
  user_id text UNNOTED,
  app_id text UNNOTED,
  active bigint NOT NULL,
  secret text UNNOTED NOT NULL,
  previous_secret text UNNOTED,
  previous_until bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  failures bigint NOT NULL DEFAULT 0,
  failing_since bigint,
  held_until bigint NOT NULL DEFAULT 0,
  last_error text UNNOTED,
  paused_at bigint
);
CREATE INDEX webhooks_of_tenant ON webhooks (tenant, created_at, id);

CREATE TABLE webhook_deliveries (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY AUTOINCREMENT,
  id text COLLATE "C" NOT NULL UNIQUE,
  webhook text COLLATE "C" NOT NULL REFERENCES webhooks (id),
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  type text NOT NULL,
  body text UNNOTED NOT NULL,
  state text NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  attempts_before bigint NOT NULL DEFAULT 0,
  due_at bigint NOT NULL,
  created_at bigint NOT NULL,
  ended_at bigint,
  status bigint,
  error text UNNOTED
);
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
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  name text COLLATE "C" UNNOTED NOT NULL,
  name_key text COLLATE "C" UNNOTED NOT NULL,
  kind text COLLATE "C" NOT NULL,
  self bigint NOT NULL,
  aliases text COLLATE "C" UNNOTED NOT NULL,
  merged_into text COLLATE "C",
  counts bigint NOT NULL,
  revision bigint NOT NULL,
  created_at bigint NOT NULL,
  -- Since when it is not projected; null once it is.
  unprojected_at bigint
);
CREATE UNIQUE INDEX graph_entities_self ON graph_entities (lane) WHERE self = 1;
CREATE INDEX graph_entities_by_name ON graph_entities (lane, name_key, id);
CREATE INDEX graph_entities_of_lane ON graph_entities (lane, id);
CREATE INDEX graph_entities_merged ON graph_entities (lane, merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX graph_entities_unprojected ON graph_entities (unprojected_at, id) WHERE unprojected_at IS NOT NULL;
CREATE INDEX graph_entities_unprojected_of_lane ON graph_entities (lane, unprojected_at, id) WHERE unprojected_at IS NOT NULL;

CREATE TABLE graph_names (
  entity text COLLATE "C" NOT NULL REFERENCES graph_entities (id),
  lane text COLLATE "C" NOT NULL,
  name text COLLATE "C" UNNOTED NOT NULL,
  PRIMARY KEY (entity, name)
) WITHOUT ROWID;
CREATE INDEX graph_names_of_lane ON graph_names (lane, name);

CREATE TABLE graph_statements (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  kind text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  relationship text COLLATE "C" UNNOTED,
  destination text COLLATE "C",
  single bigint NOT NULL,
  recorded_at bigint NOT NULL,
  consolidation_id text COLLATE "C",
  undos_before bigint NOT NULL,
  counts bigint NOT NULL,
  -- What it leans on is forgotten: it counts no longer, whatever else is said of its study.
  fallen bigint NOT NULL,
  statement text COLLATE "C" UNNOTED NOT NULL,
  -- Its quote as JSON, while the statement does not show it: words of it are hidden in its messages. null: it is shown.
  quote_said text COLLATE "C" UNNOTED
);
CREATE INDEX graph_statements_of_lane ON graph_statements (lane, id);
CREATE INDEX graph_statements_of_source ON graph_statements (lane, source, relationship, destination);
CREATE INDEX graph_statements_of_destination ON graph_statements (lane, destination) WHERE destination IS NOT NULL;
CREATE INDEX graph_statements_single ON graph_statements (lane, source, relationship) WHERE single = 1;
CREATE INDEX graph_statements_merging ON graph_statements (lane) WHERE kind IN ('same', 'apart');
CREATE INDEX graph_statements_hiding ON graph_statements (lane, id) WHERE quote_said IS NOT NULL;
CREATE INDEX graph_statements_of_consolidation ON graph_statements (lane, consolidation_id, recorded_at);

CREATE TABLE graph_relations (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  source text COLLATE "C" NOT NULL,
  relationship text COLLATE "C" UNNOTED NOT NULL,
  destination text COLLATE "C" NOT NULL,
  valid_from bigint NOT NULL,
  invalid_at bigint,
  ended_by text COLLATE "C",
  said_at bigint NOT NULL,
  said_seq bigint NOT NULL,
  confirmations bigint NOT NULL,
  message_ids text COLLATE "C" NOT NULL,
  memory_ids text COLLATE "C" NOT NULL,
  quote text COLLATE "C" UNNOTED,
  revision bigint NOT NULL,
  counts bigint NOT NULL,
  recorded_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  unprojected_at bigint
);
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
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY AUTOINCREMENT,
  consolidation_id text COLLATE "C" NOT NULL UNIQUE,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  state text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'applied', 'parked')),
  attempts bigint NOT NULL,
  failure text COLLATE "C" UNNOTED,
  plan text COLLATE "C" UNNOTED,
  not_before bigint NOT NULL,
  requested_at bigint NOT NULL,
  applied_at bigint
);
CREATE INDEX graph_studies_next ON graph_studies (seq) WHERE state = 'pending';
CREATE INDEX graph_studies_pending ON graph_studies (lane, seq) WHERE state = 'pending';
CREATE INDEX graph_studies_parked ON graph_studies (tenant, seq) WHERE state = 'parked';
-- An erasure takes the lane's row last: what refers to it is looked for by an index.
CREATE INDEX graph_studies_of_lane ON graph_studies (lane, seq);

CREATE TABLE graph_turns (
  lane text COLLATE "C" PRIMARY KEY REFERENCES lanes (id),
  epoch bigint NOT NULL,
  held text COLLATE "C",
  held_until bigint NOT NULL
);

CREATE TABLE graph_proposals (
  consolidation_id text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  source text COLLATE "C" NOT NULL,
  destination text COLLATE "C" NOT NULL,
  likeness double precision NOT NULL,
  recorded_at bigint NOT NULL,
  PRIMARY KEY (consolidation_id, source, destination)
);
CREATE INDEX graph_proposals_of_lane ON graph_proposals (lane);
`;

/** Kept as bytes. */
const BYTES = /\b(?:hex|packed_(?:json|text|record))\b/g;

/** Comments may hold anything. */
const STATEMENTS = SCHEMA_100.replace(/--.*$/gm, '');

/** Every table with the lines of its columns. */
const TABLES = new Map(
  [...STATEMENTS.matchAll(/CREATE TABLE (\w+) \(([^;]*)/g)].map(([, table = '', lines = '']) => [table, lines]),
);

export interface Column {
  readonly name: string;
  /** As the schema calls it. */
  readonly type: string;
  readonly nullable: boolean;
  /** The database numbers its rows. */
  readonly counted: boolean;
}

export const columnsOf = (table: string): readonly Column[] =>
  [
    ...(TABLES.get(table) ?? '').matchAll(
      /^ +([a-z_]+) (text|bigint|int|boolean|jsonb|bytea|hex|packed_json|packed_text|packed_record|double precision)\b(.*)/gm,
    ),
  ].map(([, name = '', type = '', rest = '']) => ({
    ...{ name, type, nullable: !/NOT NULL|PRIMARY KEY/.test(rest), counted: rest.includes('IDENTITY') },
  }));

/** The types of a table's columns on PostgreSQL. */
export const typesOf = (table: string): ReadonlyMap<string, string> =>
  new Map(columnsOf(table).map(({ name, type }) => [name, type.replace(BYTES, 'bytea')]));

export const POSTGRES_SCHEMA_100 = [
  STATEMENTS.replace(/ UNNOTED| WITHOUT ROWID| AUTOINCREMENT/g, '').replace(BYTES, 'bytea'),
  ...[...TABLES].flatMap(([table, lines]) =>
    [...lines.matchAll(/^ +(\w+) .* UNNOTED/gm)].map(
      ([, column]) => `ALTER TABLE ${table} ALTER ${column} SET STATISTICS 0;\n`,
    ),
  ),
].join('');

export const SQLITE_SCHEMA_100 = STATEMENTS.replace(/ UNNOTED| COLLATE "C"| DEFERRABLE INITIALLY DEFERRED/g, '')
  .replace(/bigint GENERATED (?:ALWAYS|BY DEFAULT) AS IDENTITY/g, 'INTEGER')
  .replace(/\b(?:bigint|int|boolean)\b/g, 'INTEGER')
  .replace(/\bdouble precision\b/g, 'REAL')
  .replace(/\bbytea\b/g, 'BLOB')
  .replace(BYTES, 'BLOB')
  .replace(/\bjsonb\b/g, 'TEXT')
  .replace(/ WITH \(fillfactor = \d+\)/g, '')
  .replace(/(CREATE TABLE [^;]*\)) WITHOUT ROWID;/g, '$1, WITHOUT ROWID;')
  .replace(/(CREATE TABLE [^;]*\))(, WITHOUT ROWID)?;/g, '$1 STRICT$2;');

/** What the first entry of a dialect's migrations makes. Smaller numbers are of pre-releases, whose tables were others. */
const FIRST = 100;

/**
 * How many schemas beyond its own a release works on. Migrations only add what an older release does not look at, so that
 * a fleet is upgraded one process after the other while it runs. One is what a next release may add and no more.
 */
const ACCEPTED_BEYOND = 1;

/** The schema that a list of migrations leads up to. */
export const newestOf = (migrations: readonly string[]): number => FIRST + migrations.length - 1;

/** What a ledger of this schema still needs: all for a new one (0), nothing for one that a next release has opened. */
export const missingIn = (migrations: readonly string[], schema: number): readonly string[] =>
  schema === 0 ? migrations : migrations.slice(schema - FIRST + 1);

/** Refuses a ledger that was made by a pre-release, or is too new for these migrations. */
export function refuseForeign(ledger: string, schema: number, migrations: readonly string[]): void {
  const newest = newestOf(migrations) + ACCEPTED_BEYOND;
  if (schema === 0 || (schema >= FIRST && schema <= newest)) return;
  const why =
    schema < FIRST
      ? 'a pre-release created it; read it with that checkout, or start with an empty data folder or database'
      : 'a newer release has opened it; start that release, or restore a backup from before the upgrade';
  throw new EngineError(`${ledger} has schema ${schema}, this release works on schemas ${FIRST} to ${newest}: ${why}`, {
    code: 'ledger_unavailable',
    retryable: false,
  });
}

/** Refuses a backup of a schema that these migrations do not lead to: restored, it would be of no use to this release. */
export function refuseUnknownBackup(schema: number, migrations: readonly string[]): void {
  const newest = newestOf(migrations);
  if (schema >= FIRST && schema <= newest) return;
  throw new EngineError(
    `the backup has schema ${schema}, but this release restores schemas ${FIRST} to ${newest}; restore it with the ` +
      'release that made it',
    { code: 'ledger_unavailable', retryable: false },
  );
}

/** Under which a ledger's table of small values says when it was backed up. */
export const LAST_BACKUP = 'last_backup';
