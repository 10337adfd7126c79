import { randomUUID } from 'node:crypto';
import { type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { startServer, type TestServer } from './server.ts';
import { slowwave } from './slowwave.ts';

// biome-ignore lint/style/noProcessEnv: only whoever starts the tests knows of a server that they may use.
const { QDRANT_URL = '', QDRANT_API_KEY } = process.env;
const headers = { 'content-type': 'application/json', ...(QDRANT_API_KEY && { 'api-key': QDRANT_API_KEY }) };
const isThere = await fetch(QDRANT_URL, { headers }).then(
  ({ ok }) => ok,
  () => false,
);
/** More than one page of what is read at a time. */
const MANY = 300;

async function ask(method: string, path: string, body?: object): Promise<void> {
  const given = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(`${QDRANT_URL}/collections/${path}`, { method, headers, ...given });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
}

/** As mem0's JavaScript writes it. */
const inJavaScript = (data: string, more: object = {}) => ({
  ...{ data, textLemmatized: data.toLowerCase(), hash: '0123456789abcdef', attributedTo: 'user' },
  ...{ createdAt: '2025-01-01T00:00:00.000Z', updatedAt: '2025-03-01T00:00:00.000Z', ...more },
});

/** As its Python does. */
const inPython = (data: string, more: object = {}) => ({
  ...{ data, text_lemmatized: data.toLowerCase(), hash: '0123456789abcdef', attributed_to: 'user', role: 'user' },
  ...{ created_at: '2025-01-01T00:00:00-08:00', updated_at: '2025-04-01T00:00:00-07:00', actor_id: 'zoe', ...more },
});

function importing(): void {
  const collection = `mem0-test-${randomUUID()}`;
  let folder: TempDir;
  let server: TestServer;

  beforeAll(async () => {
    folder = await tempDir();
    server = await startServer(folder.path);
    // A dense vector without a name, beside a sparse one, as mem0 lays its collections out.
    const layout = { vectors: { size: 4, distance: 'Cosine' }, sparse_vectors: { bm25: { modifier: 'idf' } } };
    await ask('PUT', collection, layout);
    const payloads = [
      inJavaScript('Zoe plays the cello', { user_id: 'zoe', topic: 'music', nested: { since: 2019 } }),
      inPython('Zoe lives in Lima', { user_id: 'zoe', run_id: 'r1', expiration_date: '2999-12-31' }),
      inJavaScript('Scout speaks Basque', { agent_id: 'scout' }),
      ...Array.from({ length: MANY }, (_, i) => inJavaScript(`Max likes song ${i}`, { user_id: 'max' })),
    ];
    const points = payloads.map((payload) => ({ id: randomUUID(), vector: [1, 0, 0, 0], payload }));
    await ask('PUT', `${collection}/points?wait=true`, { points });
  });
  afterAll(async () => {
    await ask('DELETE', collection);
    await server.stop();
    await folder.remove();
  });

  const run = (...args: string[]) =>
    slowwave([
      ...['import', 'mem0', '--qdrant', QDRANT_URL, '--collection', collection, '--server', server.url, '--json'],
      ...(QDRANT_API_KEY === undefined ? [] : ['--qdrant-key', QDRANT_API_KEY]),
      ...args,
    ]);

  it('takes over what mem0 wrote, in either language, page by page and once', async () => {
    expect((await run('--dry-run')).json()).toEqual({ found: MANY + 3 });
    expect((await run()).json()).toMatchObject({ found: MANY + 3, imported: MANY + 3 });
    const zoe = () => server.memories('zoe');
    await expect.poll(zoe, { timeout: 60_000 }).toHaveLength(2);
    const said = '2025-03-01T00:00:00.000Z';
    expect(await zoe()).toContainEqual(
      expect.objectContaining({
        ...{ memory: 'Zoe plays the cello', said_at: said, expires_at: null },
        metadata: { topic: 'music', nested: { since: 2019 } },
      }),
    );
    expect(await zoe()).toContainEqual(
      expect.objectContaining({
        ...{ memory: 'Zoe lives in Lima', run_id: 'r1', said_at: '2025-04-01T07:00:00.000Z', metadata: {} },
        expires_at: '3000-01-01T00:00:00.000Z',
      }),
    );
    expect((await run()).json()).toMatchObject({ imported: 0, known: MANY + 3 });
  });

  it('says which collection it looked for where there is none', async () => {
    const answer = await run('--collection', `${collection}-not`);
    expect(answer).toMatchObject({ code: 4, err: expect.stringContaining(`${collection}-not`) });
  });
}

if (isThere) {
  describe('slowwave import mem0 beside a Qdrant', importing);
} else {
  const why = QDRANT_URL === '' ? 'QDRANT_URL is not set' : `no Qdrant answers at QDRANT_URL ${QDRANT_URL}`;
  const notice = `the test of the import from Qdrant did NOT run: ${why}`;
  process.stderr.write(`\n!! ${notice}\n\n`);
  test(`did NOT run: ${why}`, async ({ annotate }) => {
    await annotate(notice, 'warning');
    expect(notice).toContain('did NOT run');
  });
}
