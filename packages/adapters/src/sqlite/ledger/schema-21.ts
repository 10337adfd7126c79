/** Lanes whose changes the index could not be told, with when each is tried again. */
export const SCHEMA_21 = `
CREATE TABLE untold_lanes (
  lane TEXT PRIMARY KEY NOT NULL,
  failures INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX untold_lanes_due ON untold_lanes (not_before, lane);
`;
