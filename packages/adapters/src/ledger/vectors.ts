import type { KnownVectors, LaneId } from '@slowwave/engine';
import { packedVector, unpackedVector } from '@slowwave/engine/storing';
import { LANE_NUMBER } from './page.ts';
import { all, first, firstAs, insert, run, type Script, unawaited } from './script.ts';

/** Of these texts of a lane. */
export function* vectorsOf(
  lane: LaneId,
  fingerprint: string,
  textHashes: readonly string[],
): Script<ReadonlyMap<string, Float32Array | null>> {
  const rows = yield* all<VectorRow>(SELECT_VECTORS, { lane, fingerprint, rows: hashed(textHashes) });
  return new Map(rows.map(({ hash, vector }) => [hash, vector.length === 0 ? null : unpackedVector(vector)]));
}

interface VectorRow {
  readonly hash: string;
  readonly vector: Uint8Array;
}

const hashed = (hashes: readonly string[]) => hashes.map((hash) => ({ hash }));

const EMBEDDER = '(SELECT number FROM embedders WHERE fingerprint = @fingerprint)';

/** From the texts to their vectors: the other way round, SQLite would look through all that a lane has, once for each text. */
const SELECT_VECTORS = `
  SELECT h.value ->> 'hash' AS hash, v.vector FROM :rows AS h CROSS JOIN vectors v
  WHERE v.lane = ${LANE_NUMBER} AND v.embedder = ${EMBEDDER} AND v.text_hash = decode(h.value ->> 'hash', 'hex')`;

/** Keeps vectors of texts, so that they are embedded once. In one order, so that nobody waits in a circle. */
export function* storeVectors(lane: LaneId, fingerprint: string, vectors: KnownVectors): Script<void> {
  const held = yield* first<{ lane: number; embedder: number | null }>(SELECT_HELD, { lane, fingerprint });
  if (held === null) return; // it was erased in the meantime
  const embedder = held.embedder ?? (yield* openEmbedder(fingerprint));
  const rows = [...vectors].map(([hash, vector]) => ({
    ...{ lane: held.lane, embedder, text_hash: Buffer.from(hash, 'hex'), vector: bytesOf(vector) },
  }));
  yield* unawaited(
    insert(
      'vectors',
      rows.toSorted((a, b) => Buffer.compare(a.text_hash, b.text_hash)),
      'ON CONFLICT (lane, embedder, text_hash) DO NOTHING',
    ),
  );
}

/** A vector as it is kept; no bytes: the model refuses the text for good. */
const bytesOf = (vector: Float32Array | null): Buffer => Buffer.from(vector === null ? [] : packedVector(vector));

const SELECT_HELD = `
  SELECT l.number AS lane, ${EMBEDDER} AS embedder FROM lanes l WHERE l.id = @lane AND l.erasure IS NULL FOR KEY SHARE`;

/** The number of an embedder, given when it is first seen. */
export function* openEmbedder(fingerprint: string): Script<number> {
  yield* run('INSERT INTO embedders (fingerprint) VALUES (@fingerprint) ON CONFLICT DO NOTHING', { fingerprint });
  const number = yield* firstAs(
    (row: { number: number }) => row.number,
    'SELECT number FROM embedders WHERE fingerprint = @fingerprint',
    { fingerprint },
  );
  if (number === null) throw new Error(`the embedder ${fingerprint} is missing right after it was made`);
  return number;
}

/** All of a lane, or those of some texts. */
export function* forgetVectors(lane: LaneId, textHashes?: readonly string[]): Script<void> {
  const those = "AND text_hash IN (SELECT decode(h.value ->> 'hash', 'hex') FROM :rows AS h)";
  const condition = textHashes === undefined ? '' : those;
  yield* run(`DELETE FROM vectors WHERE lane = ${LANE_NUMBER} ${condition}`, { lane, rows: hashed(textHashes ?? []) });
}

/** By lanes, as the key of the table begins with them. */
export function* dropVectors(
  fingerprint: string,
  { after, limit }: { readonly after: LaneId | null; readonly limit: number },
): Script<LaneId | null> {
  const text = 'SELECT id, number FROM lanes WHERE id > @after ORDER BY id LIMIT @limit';
  const lanes = yield* all<{ id: LaneId; number: number }>(text, { after: after ?? '', limit });
  if (lanes.length === 0) return null;
  yield* run(`DELETE FROM vectors WHERE lane IN :numbers::bigint AND embedder = ${EMBEDDER}`, {
    ...{ numbers: lanes.map(({ number }) => number), fingerprint },
  });
  return lanes.at(-1)?.id ?? null;
}

/** Texts that the model refuses for good. Reads nothing but an index of them. */
export function* countRefused(fingerprint: string): Script<number> {
  const text = `SELECT count(*) AS texts FROM vectors WHERE embedder = ${EMBEDDER} AND length(vector) = 0`;
  return (yield* first<{ texts: number }>(text, { fingerprint }))?.texts ?? 0;
}
