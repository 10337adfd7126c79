/**
 * What was taken back, and by which events. An event with `retracts` is an UNDO: the first schema names four kinds, so it
 * is stored as one of them.
 */
export const SCHEMA_7 = `
ALTER TABLE events ADD COLUMN undo_id text COLLATE "C", ADD COLUMN retracts jsonb;
CREATE INDEX events_of_undo ON events (undo_id) WHERE undo_id IS NOT NULL;

CREATE TABLE undos (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL REFERENCES lanes (id),
  number bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('undo', 'rollback', 'redo')),
  leads_to bigint,
  consolidations jsonb NOT NULL,
  undos jsonb NOT NULL,
  memories bigint NOT NULL,
  at bigint NOT NULL,
  UNIQUE (lane, number)
);
CREATE INDEX undos_of_tenant ON undos (tenant, at, id);
`;
