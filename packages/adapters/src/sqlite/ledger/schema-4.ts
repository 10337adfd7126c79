/**
 * What was asked of models by lane and by day, for budgets: a lane's own calls are few, a tenant's are added up. And
 * how much is still to do, counted from an index that holds nothing else.
 */
export const SCHEMA_4 = `
ALTER TABLE usage ADD COLUMN lane TEXT NOT NULL DEFAULT '';
CREATE INDEX usage_of_lane ON usage (lane, at);

CREATE TABLE usage_days (
  tenant TEXT NOT NULL,
  day INTEGER NOT NULL,
  model TEXT NOT NULL,
  calls INTEGER NOT NULL,
  failed_calls INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  PRIMARY KEY (tenant, day, model)
) STRICT, WITHOUT ROWID;

CREATE INDEX batches_open ON batches (tenant) WHERE state IN ('pending', 'consolidating');
`;
