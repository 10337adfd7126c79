/**
 * mem0 as a program that does what it is asked over HTTP, and says how long mem0 itself took: mem0 is called as a library,
 * so that the way there is no part of its time.
 * Arguments: port, URL of the model, its dimensions, folder for its files, URL of a Qdrant or "".
 */
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import fastify from 'fastify';
import { Memory } from 'mem0ai/oss';

/** Parts of mem0 that are not meant to be reached from outside. */
interface Inside {
  readonly embedder: {
    embed(...args: unknown[]): Promise<unknown>;
    embedBatch(...args: unknown[]): Promise<unknown>;
  };
  readonly vectorStore: {
    readonly client?: QdrantClient;
    insert(vectors: unknown, ids: readonly string[], payloads: readonly object[]): Promise<void>;
  };
}

const [port, modelUrl = '', dimensions, folder = '', qdrantUrl = ''] = process.argv.slice(2);
const server = { apiKey: 'scripted', baseURL: modelUrl };
const dimension = Number(dimensions);
const collectionName = `mem0-${process.pid}`;
const memory = new Memory({
  llm: { provider: 'openai', config: { ...server, model: 'scripted' } },
  embedder: { provider: 'openai', config: { ...server, model: 'scripted', embeddingDims: dimension } },
  vectorStore:
    qdrantUrl === ''
      ? { provider: 'memory', config: { collectionName, dimension, dbPath: join(folder, 'vectors.db') } }
      : { provider: 'qdrant', config: { collectionName, dimension, url: qdrantUrl } },
  historyStore: { provider: 'sqlite', config: { historyDbPath: join(folder, 'history.db') } },
});

let embeddingMs = 0;
const { embedder } = memory as unknown as Inside;
for (const name of ['embed', 'embedBatch'] as const) embedder[name] = timed(embedder[name].bind(embedder));

await memory.getAll({ filters: { user_id: 'nobody' } }); // by then its store is there
const { vectorStore } = memory as unknown as Inside;
if (vectorStore.client !== undefined) giveSearch(Object.getPrototypeOf(vectorStore.client));

const app = fastify({ logger: false, bodyLimit: 100_000_000 });
app.get('/readyz', async () => ({ status: 'ok' }));
app.post<{ Body: AddBody }>('/add', async ({ body: { user_id, messages } }) =>
  measured(() => memory.add([...messages], { userId: user_id })),
);
app.post<{ Body: FillBody }>('/fill', async ({ body: { user_id, texts } }) => measured(() => fill(user_id, texts)));
app.post<{ Body: SearchBody }>('/search', async ({ body: { user_id, query, top_k } }) =>
  measured(() => memory.search(query, { filters: { user_id }, topK: top_k })),
);
app.post('/reset', async () => measured(() => memory.reset()));
await app.listen({ host: '127.0.0.1', port: Number(port) });

interface QdrantClient {
  search?(collection: string, options: { readonly vector: unknown }): Promise<unknown>;
  query(collection: string, options: object): Promise<{ readonly points: unknown }>;
}

/** mem0 asks its client in a way that the latest release of that does not know any more. */
function giveSearch(client: QdrantClient): void {
  client.search = async function (this: QdrantClient, collection, { vector, ...rest }) {
    return (await this.query(collection, { query: vector, with_payload: true, ...rest })).points;
  };
}

interface AddBody {
  readonly user_id: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

interface FillBody {
  readonly user_id: string;
  readonly texts: readonly string[];
}

interface SearchBody {
  readonly user_id: string;
  readonly query: string;
  readonly top_k: number;
}

/**
 * Memories as add() leaves them, put straight into its store: add() takes seconds for each where many are there, as it looks
 * through all of them for every phrase of a text. Without those phrases, its search has less to do.
 */
async function fill(user_id: string, texts: readonly string[]): Promise<void> {
  const vectors = await embedder.embedBatch(texts, 'add');
  const at = new Date().toISOString();
  const ids = texts.map(() => randomUUID());
  const payloads = texts.map((data) => ({
    data,
    textLemmatized: data,
    hash: createHash('md5').update(data).digest('hex'),
    createdAt: at,
    updatedAt: at,
    user_id,
  }));
  await vectorStore.insert(vectors, ids, payloads);
}

/** How long a call took in ms, and what of it its embedder; calls come one at a time. */
async function measured<T>(call: () => Promise<T>): Promise<{ ms: number; embeddingMs: number; found: number }> {
  embeddingMs = 0;
  const began = performance.now();
  const answer = await call();
  const ms = performance.now() - began;
  return { ms, embeddingMs, found: (answer as { results?: unknown[] } | undefined)?.results?.length ?? 0 };
}

function timed(method: (...args: unknown[]) => Promise<unknown>): (...args: unknown[]) => Promise<unknown> {
  return async (...args) => {
    const began = performance.now();
    try {
      return await method(...args);
    } finally {
      embeddingMs += performance.now() - began;
    }
  };
}
