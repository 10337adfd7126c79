/**
 * What was taken back, and by which events. An event with `retracts` is an UNDO: the first schema names four kinds, so it
 * is stored as one of them.
 */
export const SCHEMA_9 = `
ALTER TABLE events ADD COLUMN undo_id TEXT;
ALTER TABLE events ADD COLUMN retracts TEXT;
CREATE INDEX events_of_undo ON events (undo_id) WHERE undo_id IS NOT NULL;

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
`;
