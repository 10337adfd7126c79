/** A stored vector as numbers, in place where they begin on a multiple of their four bytes. */
export function floatsOf(bytes: Uint8Array): Float32Array {
  const aligned = bytes.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0 ? bytes : Uint8Array.from(bytes);
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.length / Float32Array.BYTES_PER_ELEMENT);
}
