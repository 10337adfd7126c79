import { serviceId } from './keys.ts';
import type { QdrantServer } from './server.ts';

/**
 * What a collection says of itself: points without vectors, owner and tenant, that no question finds. They are kept in
 * the collection they speak of and so are lost with it, never without it.
 */
type NoteName = 'marker' | 'rebuild';

export async function readNote(server: QdrantServer, collection: string, name: NoteName): Promise<unknown> {
  const ids = [serviceId(name)];
  const [found] = await server.call((client) => client.retrieve(collection, { ids, with_payload: true }));
  return found?.payload ?? null;
}

export async function writeNote(
  server: QdrantServer,
  collection: string,
  { name, note }: { name: NoteName; note: object },
): Promise<void> {
  const points = [{ id: serviceId(name), vector: {}, payload: { ...note } }];
  await server.call((client) => client.upsert(collection, { wait: true, points }));
}

export async function dropNote(server: QdrantServer, collection: string, name: NoteName): Promise<void> {
  await server.call((client) => client.delete(collection, { wait: true, points: [serviceId(name)] }));
}
