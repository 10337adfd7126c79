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
    super('the cursor does not belong to this list; start again without a cursor');
    this.name = 'InvalidCursorError';
  }
}

/** Rows read at once: lists of any length need the memory of one page. */
export const PAGE = 200;

/** All of a list at once, or the beginning of it. */
export async function allOf<T>(list: (page: Page) => Promise<Paged<T>>, most = Number.POSITIVE_INFINITY): Promise<T[]> {
  const all: T[] = [];
  for await (const one of pages(list)) {
    if (all.length < most) all.push(one);
    if (all.length >= most) break;
  }
  return all;
}

/** Everything of a list, page by page. */
export async function* pages<T>(list: (page: Page) => Promise<Paged<T>>): AsyncGenerator<T> {
  for (let cursor: string | null = null, more = true; more; ) {
    const page: Paged<T> = await list({ limit: PAGE, cursor });
    yield* page.results;
    cursor = page.nextCursor;
    more = cursor !== null;
  }
}

/** Everything of a list that goes on behind its last one, in slices. */
export async function* slicesOf<T>(
  read: (last: T | null, limit: number) => Promise<readonly T[]>,
  limit = PAGE,
): AsyncGenerator<readonly T[]> {
  for (let last: T | null = null; ; ) {
    const slice: readonly T[] = await read(last, limit);
    yield slice;
    last = slice.at(-1) ?? null;
    if (slice.length < limit) return;
  }
}
