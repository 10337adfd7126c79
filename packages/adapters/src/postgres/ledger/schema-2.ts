/**
 * What was asked of models by lane and by day, for budgets: a lane's own calls are few, a tenant's are added up. And
 * how much is still to do, counted from an index that holds nothing else.
 */
export const SCHEMA_2 = `
ALTER TABLE usage ADD COLUMN lane text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX usage_of_lane ON usage (lane, at);

-- The use of a day is the sum over its slots: writers of one tenant seldom wait for each other.
CREATE TABLE usage_days (
  tenant text COLLATE "C" NOT NULL,
  day int NOT NULL,
  model text COLLATE "C" NOT NULL,
  slot int NOT NULL,
  calls bigint NOT NULL,
  failed_calls bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  PRIMARY KEY (tenant, day, model, slot)
) WITH (fillfactor = 50);

CREATE INDEX batches_open ON batches (tenant) WHERE state IN ('pending', 'consolidating');
`;
