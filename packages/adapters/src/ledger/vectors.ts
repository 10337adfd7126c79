import { first, type Script } from './script.ts';

/** A vector as it is kept; no bytes: the model refuses the text for good. */
export const bytesOf = (vector: Float32Array | null): Buffer =>
  vector === null ? Buffer.alloc(0) : Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);

interface VectorRow {
  readonly text_hash: string;
  readonly vector: Uint8Array;
}

export const vectorsFrom = (rows: readonly VectorRow[]): ReadonlyMap<string, Float32Array | null> =>
  new Map(rows.map(({ text_hash, vector }) => [text_hash, vector.length === 0 ? null : floatsOf(vector)]));

/** Copied: the bytes of a row need not begin where floats may. */
const floatsOf = (bytes: Uint8Array): Float32Array => new Float32Array(new Uint8Array(bytes).buffer);

/** Texts that the model refuses for good. Reads nothing but an index of them. */
export function* countRefused(fingerprint: string): Script<number> {
  const text = 'SELECT count(*) AS texts FROM vectors WHERE fingerprint = @fingerprint AND length(vector) = 0';
  return (yield* first<{ texts: number }>(text, { fingerprint }))?.texts ?? 0;
}
