/** What retention has removed, and when; and how an erasure finds the replays of a batch. */
export const SCHEMA_10 = `
ALTER TABLE batches ADD COLUMN stripped_at INTEGER;
ALTER TABLE consolidations ADD COLUMN stripped_at INTEGER;
CREATE INDEX versions_former ON versions (recorded_at) WHERE invalid_at IS NOT NULL;
CREATE INDEX replays_of_batch ON replay_batches (batch_id);
`;
