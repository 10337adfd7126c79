/** The last failed tries of each batch, oldest first. */
export const SCHEMA_5 = `
ALTER TABLE batches ADD COLUMN failures TEXT NOT NULL DEFAULT '[]';
`;
