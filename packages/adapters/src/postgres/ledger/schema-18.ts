/** Texts that an embedding model refuses for good are vectors without bytes: how many there are is counted without reading the others. */
export const SCHEMA_18 = `
CREATE INDEX vectors_refused ON vectors (fingerprint) WHERE length(vector) = 0;
`;
