export interface Page {
  readonly limit: number;
  readonly cursor: string | null;
}
/** Newest first unless said otherwise. An unreadable cursor throws InvalidCursorError. */
export interface Paged<T> {
  readonly results: readonly T[];
  readonly nextCursor: string | null;
}
export class InvalidCursorError extends Error {
  constructor() {
    super('the cursor is not one this list has given out; start again without a cursor');
    this.name = 'InvalidCursorError';
  }
}
