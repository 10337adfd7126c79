/**
 * Vectors by a key, shared by several processes. It helps and is never needed: what is away, late or broken is
 * answered like what is not there, and soon.
 */
export interface VectorCache {
  get(key: string): Promise<Float32Array | null>;
  /** Nobody waits for it. */
  put(key: string, vector: Float32Array): void;
  close(): Promise<void>;
}
