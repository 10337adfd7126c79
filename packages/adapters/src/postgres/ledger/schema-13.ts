/**
 * What the index is told of messages, batch by batch once it is applied: a number that goes up with what changes it and when
 * that was, the number it was last told (0: nothing yet; −1: an index that was lost), and how many of the messages it has.
 */
export const SCHEMA_13 = `
ALTER TABLE batches ADD COLUMN speech_revision bigint NOT NULL DEFAULT 1;
ALTER TABLE batches ADD COLUMN speech_revised_at bigint;
ALTER TABLE batches ADD COLUMN told_revision bigint NOT NULL DEFAULT 0;
ALTER TABLE batches ADD COLUMN points bigint NOT NULL DEFAULT 0;
CREATE INDEX batches_untold ON batches (told_revision, id) WHERE outcome IS NOT NULL AND told_revision < speech_revision;
CREATE INDEX batches_with_points ON batches (tenant, points) WHERE points > 0;
`;
