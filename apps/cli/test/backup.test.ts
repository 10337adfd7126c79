import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TempDir, tempDir } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from './server.ts';
import { openLedgerIn, program, slowwave, writeMemories } from './slowwave.ts';

/** Posts of each of four callers, at most: the backup is taken in the middle of them. */
const ENOUGH = 40;
/** Three starts of a server on a machine that may be busy. */
const LIMIT_MS = 180_000;

describe('slowwave backup and restore', () => {
  let folder: TempDir;
  const data = (): string => join(folder.path, 'data');
  const copy = (): string => join(folder.path, 'copy');

  beforeEach(async () => {
    folder = await tempDir();
  });
  afterEach(() => folder.remove());

  const by = (run: typeof slowwave) => ({
    backup: () => run(['backup', copy(), '--data-dir', data(), '--json']),
    restore: (...args: string[]) => run(['restore', copy(), '--data-dir', data(), '--json', ...args]),
  });
  const { backup, restore } = by(slowwave);
  /** Where somebody else has the files open. */
  const apart = by(program);

  /** Posts without end; answers with the ids of what was acknowledged. */
  async function post(server: TestServer, user: string): Promise<string> {
    const body = JSON.stringify({ user_id: user, messages: [{ role: 'user', content: `I like ${user}.` }] });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${server.url}/v1/batches`, { method: 'POST', headers, body });
    return ((await answer.json()) as { batch_id: string }).batch_id;
  }

  it(
    'under load: all that was acknowledged before it began is in it, and the index follows its state',
    async () => {
      let server = await startServer(data());
      await server.say('ann', 'I am Ann and I live in Oslo.');
      const acknowledged: string[] = [];
      let busy = true;
      const load = [0, 1, 2, 3].map(async (i) => {
        for (let n = 0; busy && n < ENOUGH; n += 1) acknowledged.push(await post(server, `user ${i} ${n % 5}`));
      });
      while (acknowledged.length < 20) await new Promise((resolve) => setTimeout(resolve, 5));
      const before = [...acknowledged];
      const taken = await apart.backup();
      busy = false;
      await Promise.all(load);
      expect(taken).toMatchObject({ code: 0 });
      const { taken_at: at, bytes } = taken.json().manifest;
      const examined = await fetch(`${server.url}/v1/doctor`);
      expect(await examined.json()).toMatchObject({ last_backup: { at, bytes } });
      // What is said later is in the index, and must not be found after the restore.
      await server.say('ann', 'I moved to Bergen.');
      await server.stop();
      expect(await apart.restore()).toMatchObject({ code: 1, err: expect.stringContaining('--force') });
      const restored = await apart.restore('--force');
      expect(restored).toMatchObject({ code: 0 });
      expect(restored.json().manifest).toEqual(taken.json().manifest);

      server = await startServer(data());
      for (const id of before) expect((await fetch(`${server.url}/v1/batches/${id}`)).status, id).toBe(200);
      await untilHealthy(server);
      const doctor = async () => (await (await fetch(`${server.url}/v1/doctor`)).json()) as { last_backup: unknown };
      expect((await doctor()).last_backup).toBeNull();
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ user_id: 'ann', query: 'where does she live' });
      const search = await fetch(`${server.url}/v1/search`, { method: 'POST', headers, body });
      const { results } = (await search.json()) as { results: { memory: string }[] };
      expect(results.map(({ memory }) => memory).join()).toMatch(/Oslo/);
      expect(results.map(({ memory }) => memory).join()).not.toMatch(/Bergen/);
      await server.stop();
    },
    LIMIT_MS,
  );

  /** Waits until everything has been consolidated and told to the index. */
  async function untilHealthy(server: TestServer): Promise<void> {
    for (const deadline = Date.now() + LIMIT_MS / 2; ; ) {
      const { batches, outbox } = (await (await fetch(`${server.url}/v1/stats`)).json()) as never as Stats;
      if (batches.pending + batches.consolidating + outbox === 0) break;
      if (Date.now() > deadline) throw new Error(`still under way: ${JSON.stringify({ batches, outbox })}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const examined = await slowwave(['doctor', '--offline', '--full', '--data-dir', data(), '--json']);
    expect(examined.json().findings).toEqual([]);
  }
  interface Stats {
    readonly batches: { readonly pending: number; readonly consolidating: number };
    readonly outbox: number;
  }

  async function filled(): Promise<void> {
    const ledger = await openLedgerIn(data());
    await writeMemories(ledger, 20);
    await ledger.close();
  }

  it('names what is in it, and keeps others from reading it', async () => {
    await filled();
    const { json } = await backup();
    expect(json().manifest).toMatchObject({ kind: 'sqlite', counts: { memories: 20, events: 20, batches: 0 } });
    expect(JSON.parse(await readFile(join(copy(), 'manifest.json'), 'utf8'))).toEqual(json().manifest);
    expect((await stat(join(copy(), 'ledger.db'))).mode & 0o077).toBe(0);
    expect(await backup()).toMatchObject({ code: 1, err: expect.stringContaining('expected a new or empty folder') });
  });

  it('what is damaged or not complete is refused, and the ledger stays as it is', async () => {
    await filled();
    expect((await backup()).code).toBe(0);
    const file = join(copy(), 'ledger.db');
    const bytes = await readFile(file);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    await writeFile(file, bytes);
    expect(await restore('--force')).toMatchObject({ code: 1, err: expect.stringContaining('the backup is damaged') });
    const manifest = join(copy(), 'manifest.json');
    const told = JSON.parse(await readFile(manifest, 'utf8'));
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    await writeFile(file, bytes);
    await writeFile(manifest, JSON.stringify({ ...told, schema: 25 }));
    expect(await restore('--force')).toMatchObject({ code: 1, err: expect.stringContaining('has schema 25') });
    await rm(manifest);
    expect(await restore('--force')).toMatchObject({
      code: 1,
      err: expect.stringContaining('got no complete one'),
    });
    const ledger = await openLedgerIn(data());
    expect(await ledger.audit.memories()).toBe(20);
    await ledger.close();
  });

  it('under the feet of a server it is refused; a damaged ledger is replaced', async () => {
    await filled();
    expect((await apart.backup()).code).toBe(0);
    const ledger = await openLedgerIn(data());
    expect(await apart.restore('--force')).toMatchObject({
      code: 5,
      err: expect.stringContaining('is in use by another process'),
    });
    const id = ledger.id;
    await ledger.close();
    await writeFile(join(data(), 'ledger.db'), 'this is no database any more'.repeat(1_000));
    expect((await apart.restore('--force')).code).toBe(0);
    const back = await openLedgerIn(data());
    expect(await back.audit.memories()).toBe(20);
    expect(back.id).not.toBe(id);
    await back.close();
  });
});
