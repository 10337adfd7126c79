import { withQuery } from './api.ts';
import type { Ask } from './ask.ts';

/** The most a list answers at once. */
const PAGE_MAX = 200;

interface Listed<Item> {
  readonly results: Item[];
  readonly next_cursor: string | null;
}

interface Asked {
  readonly path: string;
  readonly query: Readonly<Record<string, string | null>>;
  readonly limit: number;
}

/** A list of the API, page by page, up to a limit; `more` when there are others. */
export async function listUpTo<Item>(
  ask: Ask,
  { path, query, limit }: Asked,
): Promise<{ items: Item[]; more: boolean }> {
  const items: Item[] = [];
  for (let cursor: string | null = null; ; ) {
    const size = Math.min(PAGE_MAX, limit - items.length);
    const page: Listed<Item> = await ask({ method: 'GET', path: withQuery(path, { ...query, limit: size, cursor }) });
    items.push(...page.results);
    if (page.next_cursor === null || items.length >= limit) return { items, more: page.next_cursor !== null };
    cursor = page.next_cursor;
  }
}
