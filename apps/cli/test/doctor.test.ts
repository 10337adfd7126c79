import { join } from 'node:path';
import { type TempDir, tempDir } from '@slowwave/testkit';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from './server.ts';
import { program, slowwave } from './slowwave.ts';

describe('slowwave doctor', () => {
  let folder: TempDir;
  let server: TestServer;

  beforeAll(async () => {
    folder = await tempDir();
    server = await startServer(folder.path);
    await server.say('ann', 'I am Ann and I live in Oslo.');
    await server.say('ann', 'I moved to Bergen.');
  });
  afterAll(async () => {
    await server.stop();
    await folder.remove();
  });

  const online = (...args: string[]) => slowwave(['doctor', '--server', server.url, ...args]);
  const offline = (...args: string[]) => program(['doctor', '--offline', '--data-dir', folder.path, ...args]);
  const inFile = (name: string, statement: string): void => {
    const db = new Database(join(folder.path, name));
    db.pragma('foreign_keys = OFF');
    db.exec(statement);
    db.close();
  };

  it('finds a healthy server healthy, from the server and beside it, in words and in JSON', async () => {
    const { code, out } = await online();
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('No problems found.') });
    const full = await offline('--full', '--json');
    expect(full.code).toBe(0);
    expect(full.json()).toMatchObject({ depth: 'full', healthy: true, findings: [] });
    expect(full.json().checks.map(({ check }: { check: string }) => check)).toContain('orphans');
  });

  it('names what is wrong with the index and what mends it, which does', async () => {
    for (const table of ['loose', 'blocks']) {
      inFile(
        'index.db',
        `UPDATE ${table} SET shown = unhex(replace(hex(shown), hex('Ann'), hex('Bob')))
          WHERE row / ${2 ** 24} % 4 = 0 -- the shelf of memories`,
      );
    }
    const { code, out } = await online();
    expect(code).toBe(3);
    expect(out).toMatch(/error: 1 points that differ from the ledger\n {2}e\.g\. mem_\w+ version 1/);
    expect(out).toContain('→ slowwave rebuild index');
    expect((await program(['rebuild', 'index', '--data-dir', folder.path])).code).toBe(0);
    expect((await offline('--full')).code).toBe(0);
  });

  it('finds what the ledger itself has wrong', async () => {
    inFile('ledger.db', `UPDATE lanes SET pending = pending + 1; UPDATE versions SET text = 'Somebody else'`);
    const found = await online('--json');
    expect(found.code).toBe(3);
    const whats = found.json().findings.map(({ what }: { what: string }) => what);
    expect(whats).toContain('1 × lane that miscounts');
    expect(whats.join()).toContain('have versions that do not match their timeline');
    inFile('ledger.db', `UPDATE lanes SET pending = pending - 1; UPDATE versions SET text = NULL`);
    expect((await online()).code).toBe(0);
  });

  it('refuses to read everything through a server', async () => {
    const { code, err } = await online('--full');
    expect(code).toBe(2);
    expect(err).toContain('add --offline');
  });

  it('a server that is not there ends it with 5', async () => {
    const { code, err } = await slowwave(['doctor', '--server', 'http://127.0.0.1:1']);
    expect(code).toBe(5);
    expect(err).toContain('expected a Slowwave server at http://127.0.0.1:1 to answer, got');
  });
});
