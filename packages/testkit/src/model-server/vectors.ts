import { createHash } from 'node:crypto';

/** A unit vector that depends on the text alone: texts with words in common are near each other. */
export function wordVector(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .match(/\p{Script=Han}|[\p{L}\p{N}]+/gu) ?? [text];
  for (const word of words) {
    const digest = createHash('sha256').update(word).digest();
    const slot = digest.readUInt32LE(0) % dimensions;
    vector[slot] = (vector[slot] ?? 0) + (digest.readUInt8(4) % 2 === 0 ? 1 : -1);
  }
  return toUnit(vector);
}

function toUnit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  if (length > 0) return vector.map((value) => value / length);
  vector[0] = 1; // words that cancelled each other out
  return vector;
}
