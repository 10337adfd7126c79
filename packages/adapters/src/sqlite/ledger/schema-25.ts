/** Counters have slots, as in PostgreSQL, where writers would wait for each other; here there is one. */
export const SCHEMA_25 = `
ALTER TABLE counters RENAME TO counters_of_one;
CREATE TABLE counters (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  slot INTEGER NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (tenant, name, slot)
) STRICT, WITHOUT ROWID;
INSERT INTO counters SELECT tenant, name, 0, value FROM counters_of_one;
DROP TABLE counters_of_one;

ALTER TABLE usage_days RENAME TO usage_days_of_one;
CREATE TABLE usage_days (
  tenant TEXT NOT NULL,
  day INTEGER NOT NULL,
  model TEXT NOT NULL,
  slot INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  failed_calls INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  PRIMARY KEY (tenant, day, model, slot)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_days
  SELECT tenant, day, model, 0, calls, failed_calls, prompt_tokens, completion_tokens FROM usage_days_of_one;
DROP TABLE usage_days_of_one;
`;
