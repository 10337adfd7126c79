/** What the speaker's own clock showed, and how many minutes it was ahead of UTC: both, or none where that is not known. */
export const SCHEMA_22 = `
ALTER TABLE messages ADD COLUMN clock_at INTEGER;
ALTER TABLE messages ADD COLUMN utc_offset INTEGER;
`;
