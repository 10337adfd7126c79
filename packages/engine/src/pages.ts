import type { Page, Paged } from './ports/ledger/page.ts';

/** Rows read at once: lists of any length need the memory of one page. */
export const PAGE = 200;

/** Everything of a list, page by page. */
export async function* pages<T>(list: (page: Page) => Promise<Paged<T>>): AsyncGenerator<T> {
  for (let cursor: string | null = null, more = true; more; ) {
    const page: Paged<T> = await list({ limit: PAGE, cursor });
    yield* page.results;
    cursor = page.nextCursor;
    more = cursor !== null;
  }
}
