/**
 * Old conversations that are brought in go behind what is being said now: which batches they are, how many of them wait
 * in a lane, and how the lane's job was added. Batches from before are live.
 */
export const SCHEMA_8 = `
ALTER TABLE batches ADD COLUMN backfill INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lanes ADD COLUMN pending_backfill INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lanes ADD COLUMN nudged_backfill INTEGER NOT NULL DEFAULT 0;

-- Counting what waits in a lane reads nothing but this index.
DROP INDEX batches_pending;
CREATE INDEX batches_pending ON batches (lane, position, tokens, accepted_at, backfill) WHERE state = 'pending';
`;
