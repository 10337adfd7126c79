import { POSTGRES_SCHEMA_100 } from '../../ledger/schema.ts';

/** What PostgreSQL alone does in its own way. */
const OWN = `
CREATE INDEX batches_pending ON batches (lane, position) WHERE state = 'pending';

CREATE FUNCTION refuse_change_of_trail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'entries of the trail are not changed';
END $$;
CREATE TRIGGER trail_is_append_only BEFORE UPDATE ON trail FOR EACH ROW
WHEN (NEW.subject_kind IS DISTINCT FROM 'erasure'
  OR (NEW.tenant, NEW.at, NEW.id, NEW.actor, NEW.session, NEW.action, NEW.status, NEW.code)
    IS DISTINCT FROM (OLD.tenant, OLD.at, OLD.id, OLD.actor, OLD.session, OLD.action, OLD.status, OLD.code))
EXECUTE FUNCTION refuse_change_of_trail();
`;

/** In order: the first makes schema 100 in an empty ledger, the next makes 101. Never edit one that was released; append. */
export const MIGRATIONS: readonly string[] = [POSTGRES_SCHEMA_100 + OWN];
