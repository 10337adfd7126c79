/** Bytes by a name: a folder, or a bucket. Names have letters, digits and `_` alone. */
export interface Objects {
  /** There for good when it resolves. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** null: there is none. */
  get(name: string): Promise<Uint8Array | null>;
  /** Idempotent. */
  delete(name: string): Promise<void>;
  /** By name. */
  list(after: string | null, limit: number): Promise<readonly { readonly name: string; readonly bytes: number }[]>;
  /** What stays of objects that were deleted, for people. */
  remains(): Promise<readonly string[]>;
}
