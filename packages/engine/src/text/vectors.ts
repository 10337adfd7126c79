/** Cosine of two vectors of equal length, −1…1; 0 where one of them is all zeros. */
export function cosine(a: Float32Array, b: Float32Array): number {
  return cosineOf(dot(a, b), lengthOf(a) * lengthOf(b));
}

/** The cosine behind a dot product, given the product of the lengths; rounding never takes it out of −1…1. */
export function cosineOf(product: number, lengths: number): number {
  return lengths === 0 ? 0 : Math.max(-1, Math.min(1, product / lengths));
}

export const lengthOf = (vector: Float32Array): number => Math.sqrt(dot(vector, vector));

/** Sum of the products of `b` with the part of `a` that begins at `offset`. */
export function dot(a: Float32Array, b: Float32Array, offset = 0): number {
  let sum = 0;
  for (let i = 0; i < b.length; i += 1) sum += (a[offset + i] ?? 0) * (b[i] ?? 0);
  return sum;
}
