/** What a day of a tenant may use at most, as the operator says. */
export const SCHEMA_23 = `
CREATE TABLE ceilings (
  tenant TEXT PRIMARY KEY NOT NULL,
  tokens_per_day REAL,
  cost_per_day REAL
) STRICT;
`;
