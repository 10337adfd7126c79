/** How retention finds what it has not removed yet. */
export const SCHEMA_11 = `
CREATE INDEX batches_to_strip ON batches (tenant, accepted_at)
  WHERE stripped_at IS NULL AND state IN ('consolidated', 'empty', 'undone');
CREATE INDEX consolidations_to_strip ON consolidations (tenant, created_at)
  WHERE stripped_at IS NULL AND state IN ('applied', 'split', 'undone');
`;
