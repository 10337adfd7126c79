import type { PointPage } from '@slowwave/engine';
import { ANY_MEMORY } from './filters.ts';
import { shownOf } from './points.ts';
import type { QdrantServer } from './server.ts';

/** The points of a collection, or of what is behind an alias, from one id on; by id, which is the server's order. */
export async function pageOf(
  server: QdrantServer,
  collection: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<PointPage> {
  const { points, next_page_offset } = await server.call((client) =>
    client.scroll(collection, {
      filter: ANY_MEMORY,
      with_payload: ['point'],
      limit,
      ...(after === null ? {} : { offset: after }),
    }),
  );
  const next = typeof next_page_offset === 'string' ? next_page_offset : null;
  return { points: points.map(({ payload }) => shownOf(payload)), next };
}
