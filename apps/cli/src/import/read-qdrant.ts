import { CommandError, EXIT } from '../exit.ts';

export interface CollectionPlace {
  readonly url: string;
  readonly collection: string;
  readonly apiKey: string | null;
}

const POINTS_PER_PAGE = 256;

interface Page {
  readonly result?: {
    readonly points: readonly { readonly id: string | number; readonly payload?: object | null }[];
    readonly next_page_offset?: string | number | null;
  };
}

/** The payloads of a collection, with the ids of their points. Its vectors are another model's, and are left. */
export async function itemsInCollection(place: CollectionPlace, cancel: AbortSignal): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  let offset: string | number | null = null;
  do {
    const page = await pageAt(place, offset, cancel);
    items.push(...(page.result?.points ?? []).map(({ id, payload }) => ({ ...payload, id })));
    offset = page.result?.next_page_offset ?? null;
  } while (offset !== null);
  return items;
}

async function pageAt(place: CollectionPlace, offset: string | number | null, signal: AbortSignal): Promise<Page> {
  const { url, collection, apiKey } = place;
  const at = `${url.replace(/\/+$/, '')}/collections/${encodeURIComponent(collection)}/points/scroll`;
  const headers = { 'content-type': 'application/json', ...(apiKey !== null && { 'api-key': apiKey }) };
  const body = JSON.stringify({
    limit: POINTS_PER_PAGE,
    with_payload: true,
    with_vector: false,
    ...(offset !== null && { offset }),
  });
  const answer = await fetch(at, { method: 'POST', headers, body, signal }).catch((cause: Error) => {
    throw new CommandError(`expected Qdrant at ${url}, could not reach it: ${cause.message}`, EXIT.unavailable);
  });
  if (answer.ok) return (await answer.json()) as Page;
  const said = (await answer.text()).slice(0, 300);
  const code = answer.status === 404 ? EXIT.notFound : EXIT.failed;
  throw new CommandError(`expected the collection ${collection} at ${url}, got status ${answer.status}: ${said}`, code);
}
