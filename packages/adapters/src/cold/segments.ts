import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { EngineError, type IndexPoint, type SegmentContent, type SegmentStore } from '@slowwave/engine';
import { packedVector, unpackedVector } from '@slowwave/engine/storing';
import type { Objects } from './objects.ts';

/** Segments as objects. What is written is read again, and is there as it was given when this resolves. */
export const segmentsIn = (objects: Objects): SegmentStore => ({
  put: async (name, content) => {
    const bytes = await packed(content);
    await objects.put(name, bytes);
    const there = await objects.get(name);
    if (there === null || !Buffer.from(there).equals(bytes))
      throw damaged(name, 'its content has changed since it was written');
    if (!sameLines(await unpacked(name, there), content)) throw damaged(name, 'its lines differ from the original');
    return bytes.length;
  },
  get: async (name) => {
    const bytes = await objects.get(name);
    return bytes === null ? null : unpacked(name, bytes);
  },
  delete: (name) => objects.delete(name),
  list: (after, limit) => objects.list(after, limit),
  remains: () => objects.remains(),
});

const sameLines = ({ lines }: SegmentContent, { lines: given }: SegmentContent): boolean =>
  lines.length === given.length && lines.every((line, i) => line === given[i]);

/**
 * The file of a segment:
 *
 *   4 bytes   "SWSG"
 *   1 byte    the format, 1
 *   1 byte    how its text is compressed: 1 zstd, 2 gzip
 *   2 bytes   zeros
 *   4 bytes   how long the compressed text is, little end first
 *   …         the text: a head, the lines of the owner, and its points, each a line of JSON. They name vectors by their places
 *   …         the vectors one after the other, each once, in 8-bit numbers: they do not get smaller by compressing them
 *   32 bytes  SHA-256 of all that
 */
const MAGIC = 'SWSG';
const FORMAT = 1;
const HEAD_BYTES = 12;
const DIGEST_BYTES = 32;
const CODECS = { zstd: 1, gzip: 2 } as const;

interface Head {
  readonly space: string;
  readonly told: SegmentContent['told'];
  readonly lines: number;
  readonly points: number;
  /** How long the vectors are. */
  readonly vectors: readonly number[];
}

async function packed({ lines, points, space, told }: SegmentContent): Promise<Buffer> {
  const vectors = vectorList();
  const texts = [
    ...lines.map((line) => line.replace(VECTOR_LINE, (_, before, base64) => `${before}${vectors.placeOf(base64)}"`)),
    ...points.map(({ vector, ...point }) => JSON.stringify({ ...point, vector: vectors.placeOfPoint(vector) })),
  ];
  const all = vectors.all();
  const head: Head = {
    space,
    told,
    lines: lines.length,
    points: points.length,
    vectors: all.map(({ length }) => length),
  };
  const [codec, text] = await compressed(Buffer.from([JSON.stringify(head), ...texts].join('\n')));
  const front = Buffer.alloc(HEAD_BYTES);
  front.write(MAGIC, 'latin1');
  front.writeUInt8(FORMAT, 4);
  front.writeUInt8(codec, 5);
  front.writeUInt32LE(text.length, 8);
  const body = Buffer.concat([front, text, ...all]);
  return Buffer.concat([body, digestOf(body)]);
}

/** A line of a bundle with a vector: what comes before its text, and the text. */
const VECTOR_LINE = /^(\{"type":"vector",.*"vector":")([A-Za-z0-9+/=]+)"/;
/** No text of a vector begins so. */
const PLACE = '#';
const PLACED_LINE = /^(\{"type":"vector",.*"vector":")#(\d+)"/;

/** Each vector once, wherever it stands. */
function vectorList() {
  const places = new Map<string, number>();
  const placeOf = (base64: string): number => {
    const known = places.get(base64) ?? places.size;
    places.set(base64, known);
    return known;
  };
  return {
    /** Instead of the text of a vector; the text itself, if it is not written as we write it. */
    placeOf: (base64: string): string =>
      Buffer.from(base64, 'base64').toString('base64') === base64 ? `${PLACE}${placeOf(base64)}` : base64,
    placeOfPoint: (vector: Float32Array): number => placeOf(Buffer.from(packedVector(vector)).toString('base64')),
    all: (): Buffer[] => [...places.keys()].map((base64) => Buffer.from(base64, 'base64')),
  };
}

/** Node.js before 22.15 has no zstd: what it writes everybody can read, and what others write it refuses. */
async function compressed(text: Buffer): Promise<readonly [codec: number, bytes: Buffer]> {
  if (zlib.zstdCompress === undefined) return [CODECS.gzip, await promisify(zlib.gzip)(text, { level: 9 })];
  const params = { [zlib.constants.ZSTD_c_compressionLevel]: 9 };
  return [CODECS.zstd, await promisify(zlib.zstdCompress)(text, { params })];
}

async function expanded(name: string, codec: number, bytes: Buffer): Promise<Buffer> {
  if (codec === CODECS.gzip) return promisify(zlib.gunzip)(bytes);
  if (codec !== CODECS.zstd) throw damaged(name, `expected compression 1 or 2, got ${codec}; use a newer release`);
  if (zlib.zstdDecompress === undefined) throw damaged(name, 'it needs Node.js 22.15 or newer');
  return promisify(zlib.zstdDecompress)(bytes);
}

const digestOf = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

async function unpacked(name: string, given: Uint8Array): Promise<SegmentContent> {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.length);
  if (bytes.toString('latin1', 0, 4) !== MAGIC) throw damaged(name, 'it is not a segment');
  if (bytes.readUInt8(4) > FORMAT) throw damaged(name, `expected format ${FORMAT} or older; use a newer release`);
  const body = bytes.subarray(0, -DIGEST_BYTES);
  if (!digestOf(body).equals(bytes.subarray(-DIGEST_BYTES))) throw damaged(name, 'its checksum is wrong');
  const end = HEAD_BYTES + bytes.readUInt32LE(8);
  const text = await expanded(name, bytes.readUInt8(5), body.subarray(HEAD_BYTES, end));
  const [first = '', ...texts] = text.toString().split('\n');
  const head = JSON.parse(first) as Head;
  const vectors = vectorsOf(body.subarray(end), head.vectors);
  const base64Of = (place: number): string => (vectors[place] ?? Buffer.alloc(0)).toString('base64');
  const lines = texts
    .slice(0, head.lines)
    .map((line) =>
      line.replace(PLACED_LINE, (_, before: string, place: string) => `${before}${base64Of(Number(place))}"`),
    );
  const points = texts.slice(head.lines).map((line): IndexPoint => {
    const { vector, ...point } = JSON.parse(line) as Omit<IndexPoint, 'vector'> & { readonly vector: number };
    return { ...point, vector: unpackedVector(vectors[vector] ?? Buffer.alloc(0)) };
  });
  return { lines, points, space: head.space, told: head.told };
}

function vectorsOf(bytes: Buffer, lengths: readonly number[]): readonly Buffer[] {
  const vectors: Buffer[] = [];
  for (let at = 0, i = 0; i < lengths.length; i += 1) {
    const end = at + (lengths[i] ?? 0);
    vectors.push(bytes.subarray(at, end));
    at = end;
  }
  return vectors;
}

const damaged = (name: string, why: string): EngineError =>
  new EngineError(`the segment ${name} cannot be used: ${why}; restore it from the backup of the segments`, {
    code: 'segment_unavailable',
    retryable: false,
  });
