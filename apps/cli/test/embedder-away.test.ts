import { freePort, startModelServer, type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from './server.ts';
import { program } from './slowwave.ts';

describe('while the embedding server is away, the command line', () => {
  let folder: TempDir;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    folder = await tempDir();
    const port = await freePort();
    env = { SLOWWAVE_EMBEDDING_BASE_URL: `http://127.0.0.1:${port}/v1`, SLOWWAVE_EMBEDDING_MODEL: 'emb' };
    const model = await startModelServer({ port, dimensions: 64 });
    const server = await startServer(folder.path, env);
    await server.say('ann', 'I live in Oslo.');
    await server.stop();
    await model.close();
  });
  afterAll(() => folder.remove());

  const offline = (...args: string[]) => program([...args, '--json', '--offline', '--data-dir', folder.path], env);

  it('examines the index with the length of its vectors', async () => {
    const examined = await offline('doctor', '--full');
    expect(examined).toMatchObject({ code: 0, err: expect.stringContaining('the embedding server is unavailable') });
    expect(examined.json()).toMatchObject({ healthy: true, findings: [] });
  });

  it('shows what was said and became of it', async () => {
    const listed = await offline('batches', '--user', 'ann');
    expect(listed.json().batches).toMatchObject([{ state: 'consolidated' }]);
  });

  it('rebuilds no index, and says what is missing', async () => {
    const rebuilt = await program(['rebuild', 'index', '--data-dir', folder.path], env);
    expect(rebuilt).toMatchObject({ code: 5, err: expect.stringContaining('check that the server is running') });
  });
});
