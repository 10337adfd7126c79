/** Since when a memory may have former versions to remove (0: not known), and by what a deletion blocks whose text is removed. */
export const SCHEMA_13 = `
ALTER TABLE memories ADD COLUMN history_from INTEGER DEFAULT 0;
ALTER TABLE events ADD COLUMN previous_hash TEXT;
CREATE INDEX memories_with_history ON memories (tenant, history_from, id) WHERE history_from IS NOT NULL;
`;
