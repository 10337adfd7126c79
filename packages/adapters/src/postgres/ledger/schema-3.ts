/** The last failed tries of each batch, oldest first. */
export const SCHEMA_3 = `
ALTER TABLE batches ADD COLUMN failures jsonb NOT NULL DEFAULT '[]';
`;
