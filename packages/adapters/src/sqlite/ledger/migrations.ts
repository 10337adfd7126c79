import { SQLITE_SCHEMA_100 } from '../../ledger/schema.ts';

/** What SQLite alone does in its own way: counting what waits in a lane reads nothing but the index. */
const OWN = `
CREATE INDEX batches_pending ON batches (lane, position, tokens, accepted_at, backfill) WHERE state = 'pending';

CREATE TRIGGER trail_is_append_only BEFORE UPDATE ON trail
WHEN NEW.subject_kind IS NOT 'erasure'
  OR (NEW.tenant, NEW.at, NEW.id, NEW.actor, NEW.session, NEW.action, NEW.status, NEW.code)
    IS NOT (OLD.tenant, OLD.at, OLD.id, OLD.actor, OLD.session, OLD.action, OLD.status, OLD.code)
BEGIN
  SELECT RAISE(ABORT, 'entries of the trail are not changed');
END;
`;

/** In order: the first makes schema 100 in an empty ledger, the next makes 101. Never edit one that was released; append. */
export const MIGRATIONS: readonly string[] = [SQLITE_SCHEMA_100 + OWN];
