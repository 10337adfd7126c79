/**
 * Rolling summaries: up to which message of its scope one covers, and a number that goes up with its every change.
 * A consolidation keeps the summary it began with.
 */
export const SCHEMA_3 = `
ALTER TABLE scopes ADD COLUMN summary_upto INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scopes ADD COLUMN summary_revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE consolidations ADD COLUMN summary TEXT;
`;
