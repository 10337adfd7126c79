/**
 * Old conversations that are brought in go behind what is being said now: which batches they are, how many of them wait
 * in a lane, and how the lane's job was added. Batches from before are live.
 */
export const SCHEMA_6 = `
ALTER TABLE batches ADD COLUMN backfill boolean NOT NULL DEFAULT false;
ALTER TABLE lanes ADD COLUMN pending_backfill bigint NOT NULL DEFAULT 0;
ALTER TABLE lanes ADD COLUMN nudged_backfill boolean NOT NULL DEFAULT false;
`;
