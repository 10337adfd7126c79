import type { Schemas } from '@qdrant/js-client-rest';
import type { Payload } from './points.ts';
import type { QdrantServer } from './server.ts';

type IndexSchema = Schemas['PayloadSchemaParams'];

const TENANT: IndexSchema = { type: 'keyword', is_tenant: true };
const KEYWORD: IndexSchema = { type: 'keyword', enable_hnsw: false };
const NUMBER: IndexSchema = { type: 'integer', lookup: false, range: true, enable_hnsw: false };

/** Every field that filters. Graphs are built for owners and tenants alone: the others never come without an owner. */
const FIELDS: Readonly<Record<Exclude<keyof Payload, 'point'>, IndexSchema>> = {
  owner: TENANT,
  tenant: TENANT,
  agent: KEYWORD,
  run: KEYWORD,
  app: KEYWORD,
  live: { type: 'bool', enable_hnsw: false },
  said_at: NUMBER,
  said_seq: NUMBER,
  valid_from: NUMBER,
  held_from: NUMBER,
  shown_from: NUMBER,
  invalid_at: NUMBER,
  expires_at: NUMBER,
  deleted_at: NUMBER,
  deleted_seq: NUMBER,
  revision: NUMBER,
  created_at: NUMBER,
  updated_at: NUMBER,
  confirmations: NUMBER,
  has: KEYWORD,
};

/** Makes the payload indexes a collection does not have yet; to be done before it is filled, for graphs follow them. */
export async function indexFields(server: QdrantServer, collection: string, known: object): Promise<void> {
  for (const [field_name, field_schema] of Object.entries(FIELDS)) {
    if (field_name in known) continue;
    await server.manage((client) => client.createPayloadIndex(collection, { field_name, field_schema, wait: true }));
  }
}
