/** What the speaker's own clock showed, and how many minutes it was ahead of UTC: both, or none where that is not known. */
export const SCHEMA_20 = `
ALTER TABLE messages ADD COLUMN clock_at bigint;
ALTER TABLE messages ADD COLUMN utc_offset bigint;
`;
