/**
 * Erasures: which lanes are cut off, and what became of them. The owner's id stays only until the rows are gone. The
 * indexes are those by which rows find what refers to them.
 */
export const SCHEMA_4 = `
CREATE TABLE erasures (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  owner_kind text,
  owner_id text,
  owner_hash text NOT NULL,
  lane text COLLATE "C",
  state text NOT NULL CHECK (state IN ('requested', 'erasing', 'compacting', 'erased')),
  counts jsonb NOT NULL,
  remains jsonb NOT NULL,
  requested_at bigint NOT NULL,
  erased_at bigint
);
CREATE INDEX erasures_open ON erasures (requested_at, id) WHERE state <> 'erased';

ALTER TABLE lanes ADD COLUMN erasure text COLLATE "C";

CREATE INDEX memories_of_lane ON memories (lane, id);
CREATE INDEX memories_of_scope ON memories (scope);
CREATE INDEX batches_of_scope ON batches (scope);
CREATE INDEX consolidations_of_scope ON consolidations (scope);
CREATE INDEX reviews_of_scope ON reviews (scope);
CREATE INDEX reviews_of_consolidation ON reviews (consolidation_id);
CREATE INDEX tombstones_of_memory ON tombstones (memory_id);
CREATE INDEX keys_of_batch ON idempotency_keys (batch_id);
CREATE INDEX sources_of_event ON event_sources (event_seq);

-- The server's own notes on a column quote values of it, and no erasure gets there. No plan needs notes on these.
ALTER TABLE lanes ALTER owner_id SET STATISTICS 0;
ALTER TABLE scopes ALTER key SET STATISTICS 0, ALTER user_id SET STATISTICS 0, ALTER agent_id SET STATISTICS 0, ALTER run_id SET STATISTICS 0, ALTER app_id SET STATISTICS 0, ALTER summary SET STATISTICS 0;
ALTER TABLE batches ALTER settings SET STATISTICS 0, ALTER metadata SET STATISTICS 0, ALTER failure SET STATISTICS 0, ALTER failures SET STATISTICS 0;
ALTER TABLE messages ALTER client_id SET STATISTICS 0, ALTER content SET STATISTICS 0, ALTER name SET STATISTICS 0;
ALTER TABLE idempotency_keys ALTER key SET STATISTICS 0;
ALTER TABLE consolidations ALTER failure SET STATISTICS 0, ALTER summary SET STATISTICS 0;
ALTER TABLE answers ALTER text SET STATISTICS 0;
ALTER TABLE plans ALTER plan SET STATISTICS 0;
ALTER TABLE memories ALTER timeline SET STATISTICS 0;
ALTER TABLE versions ALTER text SET STATISTICS 0, ALTER details SET STATISTICS 0;
ALTER TABLE events ALTER reason SET STATISTICS 0, ALTER previous SET STATISTICS 0, ALTER text SET STATISTICS 0, ALTER details SET STATISTICS 0;
ALTER TABLE vectors ALTER vector SET STATISTICS 0;
ALTER TABLE reviews ALTER operation SET STATISTICS 0, ALTER note SET STATISTICS 0;
ALTER TABLE erasures ALTER owner_id SET STATISTICS 0;
`;
