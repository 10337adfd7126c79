/** What a day of a tenant may use at most, as the operator says. */
export const SCHEMA_21 = `
CREATE TABLE ceilings (
  tenant text COLLATE "C" PRIMARY KEY NOT NULL,
  tokens_per_day double precision,
  cost_per_day double precision
);
`;
