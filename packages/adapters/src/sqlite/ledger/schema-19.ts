/**
 * The graph: what was said of it, and what follows; who studies which consolidation; and what the index has not been told.
 */
export const SCHEMA_19 = `
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
  untold_at INTEGER
) STRICT;
CREATE UNIQUE INDEX graph_entities_self ON graph_entities (lane) WHERE self = 1;
CREATE INDEX graph_entities_by_name ON graph_entities (lane, name_key, id);
CREATE INDEX graph_entities_of_lane ON graph_entities (lane, id);
CREATE INDEX graph_entities_merged ON graph_entities (lane, merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX graph_entities_untold ON graph_entities (untold_at, id) WHERE untold_at IS NOT NULL;
CREATE INDEX graph_entities_untold_of_lane ON graph_entities (lane, untold_at, id) WHERE untold_at IS NOT NULL;

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
  untold_at INTEGER
) STRICT;
CREATE INDEX graph_relations_of_lane ON graph_relations (lane, id);
CREATE INDEX graph_relations_of_group ON graph_relations (lane, source, relationship, destination) WHERE counts = 1;
CREATE INDEX graph_relations_of_source ON graph_relations
  (lane, source, confirmations DESC, said_at DESC, said_seq DESC, id, valid_from, invalid_at) WHERE counts = 1;
CREATE INDEX graph_relations_of_destination ON graph_relations
  (lane, destination, confirmations DESC, said_at DESC, said_seq DESC, id, valid_from, invalid_at) WHERE counts = 1;
CREATE INDEX graph_relations_in_time ON graph_relations (lane, valid_from, id) WHERE counts = 1;
CREATE INDEX graph_relations_untold ON graph_relations (untold_at, id) WHERE untold_at IS NOT NULL;
CREATE INDEX graph_relations_untold_of_lane ON graph_relations (lane, untold_at, id) WHERE untold_at IS NOT NULL;

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
CREATE INDEX graph_studies_pending ON graph_studies (lane, seq) WHERE state = 'pending';
CREATE INDEX graph_studies_parked ON graph_studies (seq) WHERE state = 'parked';

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
