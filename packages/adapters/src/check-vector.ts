import { EngineError, lengthOf } from '@slowwave/engine/storing';

/** A vector that cannot be compared is a mistake of the caller's or of its model. */
export function checkVector(vector: Float32Array, { dimensions }: { readonly dimensions: number }): void {
  const problem = vector.length === dimensions ? 'one with numbers that are not finite' : `one of ${vector.length}`;
  if (vector.length === dimensions && Number.isFinite(lengthOf(vector))) return;
  throw new EngineError(
    `expected vectors of ${dimensions} dimensions, got ${problem}; check the embedding model and its dimensions`,
    { code: 'index_unavailable', retryable: false },
  );
}
