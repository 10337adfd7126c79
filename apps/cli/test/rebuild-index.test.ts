import { join } from 'node:path';
import { openSqliteIndex } from '@slowwave/adapters/sqlite';
import { DEFAULT_TENANT, type Ledger, markerOf } from '@slowwave/engine';
import { type ModelServer, spawnService, startModelServer, type TempDir, tempDir } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAIN, openLedgerIn, slowwave, writeMemories } from './slowwave.ts';

const DIMENSIONS = 8;
/** More than two pages of the walk. */
const MANY = 500;

describe('slowwave rebuild index', () => {
  let folder: TempDir;
  let ledger: Ledger;
  let model: ModelServer;

  beforeEach(async () => {
    folder = await tempDir();
    ledger = await openLedgerIn(folder.path);
    model = await startModelServer({ dimensions: DIMENSIONS });
  });
  afterEach(async () => {
    await model.close();
    await ledger.close();
    await folder.remove();
  });

  const args = (): string[] => ['rebuild', 'index', '--json', '--data-dir', folder.path];
  const env = (): Record<string, string> => ({
    OPENAI_BASE_URL: model.baseUrl,
    SLOWWAVE_EMBEDDING_MODEL: 'embed-1',
    SLOWWAVE_EMBEDDING_DIMENSIONS: String(DIMENSIONS),
  });
  const indexed = async (): Promise<number> => {
    const fingerprint = await fingerprintOf();
    const index = await openSqliteIndex({ path: join(folder.path, 'index.db'), dimensions: DIMENSIONS, fingerprint });
    const count = await index.count(DEFAULT_TENANT);
    const settings = { messagesInIndex: 'hybrid' as const };
    expect(await index.marker()).toEqual(markerOf({ ledger, embedder: { fingerprint }, settings }));
    await index.close();
    return count;
  };
  /** As the index itself says it. */
  const fingerprintOf = async (): Promise<string> => {
    const probe = await openSqliteIndex({ path: join(folder.path, 'index.db'), dimensions: 1, fingerprint: 'probe' });
    const { fingerprint = '{}' } = (await probe.marker()) ?? {};
    await probe.close();
    return JSON.parse(fingerprint).fingerprint;
  };

  it('changes to another embedding model while others use the index', async () => {
    await writeMemories(ledger, 3);
    const plain = await slowwave(['rebuild', 'index', '--json', '--data-dir', folder.path]);
    expect(plain.json()).toMatchObject({ memories: 3, resumed: false });
    expect((await slowwave(args(), env())).code).toBe(0);
    expect(await indexed()).toBe(3);
  });

  it('tells people what it did', async () => {
    await writeMemories(ledger, 2);
    const { code, out, err } = await slowwave(['rebuild', 'index', '--data-dir', folder.path]);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^Rebuilt the index: 2 memories in/) });
    expect(err).toContain('rebuild index: 2 of 2 memories (100%)');
  });

  it('gives tenants shards of their own on Qdrant alone', async () => {
    const promote = (...words: string[]) => slowwave(['index', 'promote', ...words, '--data-dir', folder.path]);
    const elsewhere = await promote('acme');
    expect(elsewhere.code).not.toBe(0);
    expect(elsewhere.err).toContain('set QDRANT_URL');
    expect((await promote()).err).toContain('names of tenants, or --over with a number of memories');
  });

  it('says when there is no ledger, and makes none', async () => {
    const nowhere = join(folder.path, 'nowhere');
    const { code, err } = await slowwave(['rebuild', 'index', '--data-dir', nowhere]);
    expect(code).toBe(4);
    expect(err).toContain(`expected the ledger ${join(nowhere, 'ledger.db')}, got no such file`);
  });

  it('killed in the middle it goes on at the next start, and nothing is embedded twice', async () => {
    await writeMemories(ledger, MANY);
    // The model answers the first page, and is silent from then on.
    const embedded = new Set<string>();
    model.setEmbeddingScript(({ texts }) => {
      if (embedded.size + texts.length > MANY / 2) return { timeout: true };
      for (const text of texts) embedded.add(text);
      return null;
    });
    const ready = { line: /200 of 500 memories/ };
    const first = await spawnService({ main: MAIN, args: args(), env: env(), ready });
    await first.kill();

    const again: string[] = [];
    model.setEmbeddingScript(({ texts }) => {
      again.push(...texts.filter((text) => embedded.has(text)));
      return null;
    });
    const second = await slowwave(args(), env());
    expect(second).toMatchObject({ code: 0 });
    expect(second.json()).toMatchObject({ memories: MANY, resumed: true });
    expect(again).toEqual([]);
    expect(await indexed()).toBe(MANY);
  });
});
