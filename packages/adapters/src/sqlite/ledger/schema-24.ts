/** An erasure takes the lane's row last: what refers to it is looked for by an index. */
export const SCHEMA_24 = `
CREATE INDEX graph_studies_of_lane ON graph_studies (lane, seq);
`;
