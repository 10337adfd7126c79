import { DEFAULT_TENANT, HASHED, type MemoryWriter, memoryWriter, ownerBitsOfLane, scopeOf } from '@slowwave/engine';
import { echoExtract, engineBench, fakeChat, keyedDecide } from '@slowwave/engine-testing';
import { type App, createShell, type KeyCheck, Registry } from '@slowwave/http';
import { mcpRoutes, searchRoutes } from '../app.ts';
import type { SearchDeps } from '../deps.ts';
import { queryVectors } from '../question.ts';

/** Two texts are about the same thing when they share their first three words. */
const keyOf = (text: string): string => text.split(' ').slice(0, 3).join(' ');
const scripts = { extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) };

/** The read routes over stores in memory, and a writer to fill them. */
export async function searchBench({
  keys = null,
  keyRate = null,
  ...given
}: Partial<SearchDeps> & { keys?: KeyCheck | null; keyRate?: number | null } = {}) {
  const engine = await engineBench({ chat: fakeChat(scripts) });
  const { ledger, index, tools, tokenizer, log, meter, embedder } = engine.deps;
  const writer = memoryWriter(engine.deps);
  const embedQuery = queryVectors({ embedder, shared: null, tools, count: () => {} });
  const reading: SearchDeps = {
    ledger,
    index,
    tools,
    tokenizer,
    log,
    meter,
    embedQuery,
    vectors: HASHED,
    messagesInIndex: 'hybrid',
    reranker: null,
    reader: null,
    rewrite: null,
    // Kept at once: nobody has to wait for it in a test.
    noteReceipt: (answered) => {
      const id = tools.id('rcp', ownerBitsOfLane(answered.lane));
      deps.ledger.receipts.append([{ ...answered, id, at: tools.now() }]).catch(() => {});
      return id;
    },
    mayTell: () => true,
    indexState: async () => null,
  };
  const app: App = await createShell({
    name: 'search',
    auth: { apiKey: null, keys },
    log,
    runsOn: {},
    ready: {},
    keyRate,
    metrics: new Registry(),
  });
  const deps = { ...reading, ...given };
  await app.register(searchRoutes(deps));
  await app.register(mcpRoutes({ log, elsewhere: null }));
  const search = (body: object) => app.inject({ method: 'POST', url: '/v1/search', payload: body });
  return { app, deps, engine, embedder, writer, search, remember: remembering(writer) };
}

type Ids = Parameters<typeof scopeOf>[0];

const remembering =
  (writer: MemoryWriter) =>
  async (text: string, ids: Ids = { user_id: 'ann' }): Promise<string> => {
    const result = await writer.add(DEFAULT_TENANT, {
      scope: scopeOf(ids),
      text,
      metadata: { from: 'test' },
      category: 'home',
      immutable: false,
      trust: 'user',
      validFrom: null,
      expiresAt: null,
    });
    if (result.kind !== 'written') throw new Error(`expected the memory to be written, got ${result.kind}`);
    return result.memory.id;
  };
