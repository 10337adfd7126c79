import type { LaneId } from '@slowwave/engine';
import { packedVector, unpackedVector } from '@slowwave/engine/storing';
import { all, first, run, type Script } from './script.ts';

/** A vector as it is kept; no bytes: the model refuses the text for good. */
export const bytesOf = (vector: Float32Array | null): Buffer =>
  Buffer.from(vector === null ? [] : packedVector(vector));

interface VectorRow {
  readonly text_hash: string;
  readonly vector: Uint8Array;
}

export const vectorsFrom = (rows: readonly VectorRow[]): ReadonlyMap<string, Float32Array | null> =>
  new Map(rows.map(({ text_hash, vector }) => [text_hash, vector.length === 0 ? null : unpackedVector(vector)]));

/** By lanes, as the key of the table begins with them. */
export function* dropVectors(
  fingerprint: string,
  { after, limit }: { readonly after: LaneId | null; readonly limit: number },
): Script<LaneId | null> {
  const text = 'SELECT id FROM lanes WHERE id > @after ORDER BY id LIMIT @limit';
  const lanes = (yield* all<{ id: LaneId }>(text, { after: after ?? '', limit })).map(({ id }) => id);
  if (lanes.length === 0) return null;
  yield* run('DELETE FROM vectors WHERE lane IN :lanes AND fingerprint = @fingerprint', { lanes, fingerprint });
  return lanes.at(-1) ?? null;
}

/** Texts that the model refuses for good. Reads nothing but an index of them. */
export function* countRefused(fingerprint: string): Script<number> {
  const text = 'SELECT count(*) AS texts FROM vectors WHERE fingerprint = @fingerprint AND length(vector) = 0';
  return (yield* first<{ texts: number }>(text, { fingerprint }))?.texts ?? 0;
}
