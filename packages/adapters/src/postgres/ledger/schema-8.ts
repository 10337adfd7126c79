/** What retention has removed, and when; and how an erasure finds the replays of a batch. */
export const SCHEMA_8 = `
ALTER TABLE batches ADD COLUMN stripped_at bigint;
ALTER TABLE consolidations ADD COLUMN stripped_at bigint;
CREATE INDEX versions_former ON versions (recorded_at) WHERE invalid_at IS NOT NULL;
CREATE INDEX replays_of_batch ON replay_batches (batch_id);
ALTER TABLE replays ALTER filter SET STATISTICS 0, ALTER result SET STATISTICS 0, ALTER failure SET STATISTICS 0;
`;
