/**
 * The graph: what was said of it, and what follows; who studies which consolidation; and what the index has not been told.
 */
export const SCHEMA_17 = `
CREATE TABLE graph_entities (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  name text COLLATE "C" NOT NULL,
  name_key text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  self bigint NOT NULL,
  aliases text COLLATE "C" NOT NULL,
  merged_into text COLLATE "C",
  counts bigint NOT NULL,
  revision bigint NOT NULL,
  created_at bigint NOT NULL,
  untold_at bigint
);
CREATE UNIQUE INDEX graph_entities_self ON graph_entities (lane) WHERE self = 1;
CREATE INDEX graph_entities_by_name ON graph_entities (lane, name_key, id);
CREATE INDEX graph_entities_of_lane ON graph_entities (lane, id);
CREATE INDEX graph_entities_merged ON graph_entities (lane, merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX graph_entities_untold ON graph_entities (untold_at, id) WHERE untold_at IS NOT NULL;
CREATE INDEX graph_entities_untold_of_lane ON graph_entities (lane, untold_at, id) WHERE untold_at IS NOT NULL;

CREATE TABLE graph_names (
  entity text COLLATE "C" NOT NULL REFERENCES graph_entities (id),
  lane text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  PRIMARY KEY (entity, name)
);
CREATE INDEX graph_names_of_lane ON graph_names (lane, name);

CREATE TABLE graph_statements (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  kind text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  relationship text COLLATE "C",
  destination text COLLATE "C",
  single bigint NOT NULL,
  recorded_at bigint NOT NULL,
  consolidation_id text COLLATE "C",
  undos_before bigint NOT NULL,
  counts bigint NOT NULL,
  statement text COLLATE "C" NOT NULL
);
CREATE INDEX graph_statements_of_lane ON graph_statements (lane, id);
CREATE INDEX graph_statements_of_source ON graph_statements (lane, source, relationship, destination);
CREATE INDEX graph_statements_of_destination ON graph_statements (lane, destination) WHERE destination IS NOT NULL;
CREATE INDEX graph_statements_single ON graph_statements (lane, source, relationship) WHERE single = 1;
CREATE INDEX graph_statements_merging ON graph_statements (lane) WHERE kind IN ('same', 'apart');
CREATE INDEX graph_statements_of_consolidation ON graph_statements (lane, consolidation_id, recorded_at);

CREATE TABLE graph_relations (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  source text COLLATE "C" NOT NULL,
  relationship text COLLATE "C" NOT NULL,
  destination text COLLATE "C" NOT NULL,
  valid_from bigint NOT NULL,
  invalid_at bigint,
  ended_by text COLLATE "C",
  said_at bigint NOT NULL,
  said_seq bigint NOT NULL,
  confirmations bigint NOT NULL,
  message_ids text COLLATE "C" NOT NULL,
  memory_ids text COLLATE "C" NOT NULL,
  quote text COLLATE "C",
  revision bigint NOT NULL,
  counts bigint NOT NULL,
  recorded_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  untold_at bigint
);
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
  seq bigserial PRIMARY KEY,
  consolidation_id text COLLATE "C" NOT NULL UNIQUE,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  state text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'applied', 'parked')),
  attempts bigint NOT NULL,
  failure text COLLATE "C",
  plan text COLLATE "C",
  not_before bigint NOT NULL,
  requested_at bigint NOT NULL,
  applied_at bigint
);
CREATE INDEX graph_studies_pending ON graph_studies (lane, seq) WHERE state = 'pending';
CREATE INDEX graph_studies_parked ON graph_studies (seq) WHERE state = 'parked';

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
ALTER TABLE graph_entities ALTER name SET STATISTICS 0, ALTER name_key SET STATISTICS 0, ALTER aliases SET STATISTICS 0;
ALTER TABLE graph_names ALTER name SET STATISTICS 0;
ALTER TABLE graph_statements ALTER statement SET STATISTICS 0, ALTER relationship SET STATISTICS 0;
ALTER TABLE graph_relations ALTER quote SET STATISTICS 0, ALTER relationship SET STATISTICS 0;
ALTER TABLE graph_studies ALTER failure SET STATISTICS 0, ALTER plan SET STATISTICS 0;
`;
