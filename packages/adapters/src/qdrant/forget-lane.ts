import type { IndexLane } from '@slowwave/engine';
import { laneFilter } from './filters.ts';
import { shownOf } from './points.ts';
import type { QdrantServer } from './server.ts';
import type { SpaceNames } from './space.ts';

/** Points read, and deleted, in one call. */
const PAGE = 256;

/** Deletes a lane's points wherever they are: a collection that is just being built anew may have them, too. */
export async function forgetLane(server: QdrantServer, names: SpaceNames, of: IndexLane): Promise<number> {
  const collections = new Set([names.alias]);
  for (const collection of names.collections) {
    const { exists } = await server.manage((client) => client.collectionExists(collection));
    if (exists) collections.add(collection);
  }
  let gone = 0;
  for (const collection of collections) gone += await forgetIn(server, collection, of);
  return gone;
}

/** Points are found by the key of their owner's lane; in what a former release wrote the lane is in what they show. */
export async function forgetIn(server: QdrantServer, collection: string, of: IndexLane): Promise<number> {
  let gone = 0;
  for (let offset: string | null = null, more = true; more; ) {
    const page: Page = await pageOf(server, collection, { of, offset });
    if (page.ids.length > 0) {
      await server.call((client) => client.delete(collection, { wait: true, points: [...page.ids] }));
    }
    gone += page.ids.length;
    offset = page.next;
    more = offset !== null;
  }
  return gone;
}

interface Page {
  readonly ids: readonly string[];
  readonly next: string | null;
}

async function pageOf(
  server: QdrantServer,
  collection: string,
  { of, offset }: { of: IndexLane; offset: string | null },
): Promise<Page> {
  const { points, next_page_offset } = await server.call((client) =>
    client.scroll(collection, {
      filter: laneFilter(of),
      with_payload: ['point'],
      limit: PAGE,
      ...(offset === null ? {} : { offset }),
    }),
  );
  const mine = points.filter(({ payload }) => shownOf(payload).lane === of.lane);
  const next = typeof next_page_offset === 'string' ? next_page_offset : null;
  return { ids: mine.map(({ id }) => String(id)), next };
}
