/** Who did what. What an erasure changes is all that may be changed: whom an entry is about. */
export const SCHEMA_15 = `
CREATE TABLE trail (
  tenant text NOT NULL,
  at bigint NOT NULL,
  id text NOT NULL,
  actor text NOT NULL,
  session bigint NOT NULL,
  action text NOT NULL,
  subject_kind text,
  subject_id text,
  status bigint NOT NULL,
  code text,
  request_id text,
  PRIMARY KEY (tenant, at, id)
);
CREATE INDEX trail_by_actor ON trail (tenant, actor, at, id);
CREATE INDEX trail_by_subject ON trail (tenant, subject_id, at, id) WHERE subject_id IS NOT NULL;
CREATE INDEX trail_by_action ON trail (tenant, action, at, id) WHERE action <> 'POST /v1/batches';
CREATE INDEX trail_failed ON trail (tenant, at, id) WHERE status >= 400;
CREATE FUNCTION refuse_change_of_trail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'entries of the trail are not changed';
END $$;
CREATE TRIGGER trail_is_append_only BEFORE UPDATE ON trail FOR EACH ROW
WHEN (NEW.subject_kind IS DISTINCT FROM 'erasure'
  OR (NEW.tenant, NEW.at, NEW.id, NEW.actor, NEW.session, NEW.action, NEW.status, NEW.code)
    IS DISTINCT FROM (OLD.tenant, OLD.at, OLD.id, OLD.actor, OLD.session, OLD.action, OLD.status, OLD.code))
EXECUTE FUNCTION refuse_change_of_trail();
CREATE INDEX erasures_of_owner ON erasures (owner_hash);
ALTER TABLE trail ALTER subject_id SET STATISTICS 0, ALTER request_id SET STATISTICS 0;
`;
