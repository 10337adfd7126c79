/** Vectors in 8-bit numbers, as they are kept: one step for all numbers, then how many steps each of them is. */

const STEP_BYTES = 4;
const NUMBER_MAX = 127;
const LITTLE_END_FIRST = true;
/** Bits of a step that are zero, so that a step taken up to 127 times is exact in 32 bits: what is packed again stays as it is. */
const SPARE_BITS = 0xff;

export function packedVector(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(STEP_BYTES + vector.length);
  const step = stepOf(vector);
  if (step === 0) return bytes;
  new DataView(bytes.buffer).setFloat32(0, step, LITTLE_END_FIRST);
  const numbers = new Int8Array(bytes.buffer, STEP_BYTES);
  for (let i = 0; i < vector.length; i += 1) numbers[i] = Math.round((vector[i] as number) / step);
  return bytes;
}

export function unpackedVector(bytes: Uint8Array): Float32Array {
  const step = new DataView(bytes.buffer, bytes.byteOffset).getFloat32(0, LITTLE_END_FIRST);
  const numbers = new Int8Array(bytes.buffer, bytes.byteOffset + STEP_BYTES, bytes.length - STEP_BYTES);
  return Float32Array.from(numbers, (number) => number * step);
}

/** As it is once it was kept. Every vector is that from the beginning, so that what is found does not depend on where it was read. */
export const roundedVector = (vector: Float32Array): Float32Array => unpackedVector(packedVector(vector));

/** The least step, of those that are exact, by which the largest number is no more than 127. */
function stepOf(vector: Float32Array): number {
  let largest = 0;
  for (let i = 0; i < vector.length; i += 1) largest = Math.max(largest, Math.abs(vector[i] as number));
  const view = new DataView(new ArrayBuffer(STEP_BYTES));
  view.setFloat32(0, largest / NUMBER_MAX);
  view.setUint32(0, (view.getUint32(0) + SPARE_BITS) & ~SPARE_BITS);
  return view.getFloat32(0);
}
