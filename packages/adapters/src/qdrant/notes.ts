import { EngineError, type IndexMarker } from '@slowwave/engine';
import { isOfSpace, type SpaceNames } from './collections.ts';
import { ANY_MEMORY } from './filters.ts';
import { serviceId } from './points.ts';
import type { QdrantServer } from './server.ts';

/** The marker as it is kept: with the name of the space, of which the fingerprint is only a part. */
interface Note {
  readonly ledger_id: string;
  readonly fingerprint: string;
  readonly space: string;
}

/** Whose projection the index is. A collection of another space always has a marker, one that fits nobody here. */
export async function readMarker(server: QdrantServer, names: SpaceNames): Promise<IndexMarker | null> {
  const note = (await readNote(server, names.alias, 'marker')) as Note | null;
  if (note === null) return (await isOfSpace(server, names.alias, names)) ? null : UNKNOWN;
  const fingerprint = note.space === names.dense ? note.fingerprint : `${note.fingerprint} in the format ${note.space}`;
  return { ledgerId: note.ledger_id, fingerprint };
}

const UNKNOWN: IndexMarker = { ledgerId: 'unknown', fingerprint: 'unknown' };

/** Claims what is behind the alias for a ledger. */
export async function stampMarker(server: QdrantServer, names: SpaceNames, marker: IndexMarker): Promise<void> {
  if (!(await isOfSpace(server, names.alias, names))) throw taken(names.alias, 'vectors of another embedder');
  const before = await readMarker(server, names);
  if (before !== null && before.ledgerId !== marker.ledgerId && (await hasMemories(server, names.alias))) {
    throw taken(names.alias, `points of ledger ${before.ledgerId}`);
  }
  await noteMarker(server, { names, collection: names.alias }, marker);
}

/** Writes the marker of a collection that is known to be this ledger's. */
export async function noteMarker(
  server: QdrantServer,
  { names, collection }: { readonly names: SpaceNames; readonly collection: string },
  { ledgerId, fingerprint }: IndexMarker,
): Promise<void> {
  const note: Note = { ledger_id: ledgerId, fingerprint, space: names.dense };
  await writeNote(server, collection, { name: 'marker', note });
}

async function hasMemories(server: QdrantServer, collection: string): Promise<boolean> {
  const { count } = await server.call((client) => client.count(collection, { filter: ANY_MEMORY, exact: true }));
  return count > 0;
}

function taken(alias: string, got: string): EngineError {
  return new EngineError(`expected an empty index to stamp, got ${alias} on Qdrant with ${got}; clear it first`, {
    code: 'index_unavailable',
    retryable: false,
  });
}

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
