/**
 * Who did what. Rows lie as they are listed. What an erasure changes is all that may be changed: whom an entry is about.
 */
export const SCHEMA_17 = `
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
CREATE INDEX trail_by_action ON trail (tenant, action, at, id) WHERE action <> 'POST /v1/batches';
CREATE INDEX trail_failed ON trail (tenant, at, id) WHERE status >= 400;
CREATE TRIGGER trail_is_append_only BEFORE UPDATE ON trail
WHEN NEW.subject_kind IS NOT 'erasure'
  OR (NEW.tenant, NEW.at, NEW.id, NEW.actor, NEW.session, NEW.action, NEW.status, NEW.code)
    IS NOT (OLD.tenant, OLD.at, OLD.id, OLD.actor, OLD.session, OLD.action, OLD.status, OLD.code)
BEGIN
  SELECT RAISE(ABORT, 'entries of the trail are not changed');
END;
CREATE INDEX erasures_of_owner ON erasures (owner_hash);
`;
