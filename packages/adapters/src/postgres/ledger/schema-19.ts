/** Lanes whose changes the index could not be told, with when each is tried again. */
export const SCHEMA_19 = `
CREATE TABLE untold_lanes (
  lane text COLLATE "C" PRIMARY KEY NOT NULL,
  failures bigint NOT NULL,
  not_before bigint NOT NULL,
  code text COLLATE "C" NOT NULL,
  message text COLLATE "C" NOT NULL,
  at bigint NOT NULL
);
CREATE INDEX untold_lanes_due ON untold_lanes (not_before, lane);
ALTER TABLE untold_lanes ALTER message SET STATISTICS 0;
`;
