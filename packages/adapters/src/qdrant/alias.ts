import type { QdrantServer } from './server.ts';

/** The collection behind an alias; null: there is no such alias. */
export async function collectionBehind(server: QdrantServer, alias: string): Promise<string | null> {
  const { aliases } = await server.manage((client) => client.getAliases());
  return aliases.find(({ alias_name }) => alias_name === alias)?.collection_name ?? null;
}

/** From one moment to the next, everybody who uses the alias is with this collection. */
export async function pointAlias(server: QdrantServer, alias: string, collection: string): Promise<void> {
  const actions = [
    { delete_alias: { alias_name: alias } },
    { create_alias: { alias_name: alias, collection_name: collection } },
  ];
  await server.manage((client) => client.updateCollectionAliases({ actions }));
}
