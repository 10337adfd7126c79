/**
 * Erasures: which lanes are cut off, and what became of them. The owner's id stays only until the rows are gone. The
 * indexes are those by which rows find what refers to them.
 */
export const SCHEMA_6 = `
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

ALTER TABLE lanes ADD COLUMN erasure TEXT;

CREATE INDEX memories_of_lane ON memories (lane, id);
CREATE INDEX memories_of_scope ON memories (scope);
CREATE INDEX batches_of_scope ON batches (scope);
CREATE INDEX consolidations_of_scope ON consolidations (scope);
CREATE INDEX reviews_of_scope ON reviews (scope);
CREATE INDEX reviews_of_consolidation ON reviews (consolidation_id);
CREATE INDEX tombstones_of_memory ON tombstones (memory_id);
CREATE INDEX keys_of_batch ON idempotency_keys (batch_id);
CREATE INDEX sources_of_event ON event_sources (event_seq);
`;
