import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createSlowwave } from '@slowwave/sdk';
import { COMPILE_CACHE, freePort, programFile, spawnService, startOwnServer, tempDir } from '@slowwave/testkit';
import { describe, expect, it } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

const within = { timeout: WITHIN_MS };
const KEY = 'the-key-of-the-operator';

/** Two cells behind a router that moves nobody, so that what is on its way stays so. The second one is gone. */
async function divided() {
  const folder = await tempDir();
  const [west, east] = await Promise.all(
    ['west', 'east'].map((name) => startOwnServer({ SLOWWAVE_API_KEY: KEY, SLOWWAVE_CELL: name })),
  );
  const env = { ...COMPILE_CACHE, SLOWWAVE_API_KEY: KEY, SLOWWAVE_DIRECTORY: join(folder.path, 'directory.db') };
  const cells = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, [programFile('cli'), 'cells', ...args], { env });
  await createSlowwave({ url: west?.url ?? '', apiKey: KEY }).memories.add({ user_id: 'ana', memory: 'Ana likes tea' });
  await cells('add', 'west', west?.url ?? '');
  await cells('add', 'east', east?.url ?? '', '--later');
  await cells('move', '--user', 'ana', '--to', 'east', '--later');
  await east?.close();
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const router = await spawnService({
    main: programFile('router'),
    env: { ...env, SLOWWAVE_PORT: port, SLOWWAVE_MOVES: '0', SLOWWAVE_LOG_LEVEL: 'warn' },
    ready: { url: `${url}/readyz` },
  });
  return {
    url,
    close: async () => {
      await router.stop();
      await west?.close();
      await folder.remove();
    },
  };
}

describe('the page of cells', () => {
  const at = consoleForTests({ SLOWWAVE_API_KEY: KEY }, divided);

  it('shows which cell has whom, who is on the way, and which cell does not respond', async () => {
    const { page, open, expectClean } = await at.visit({ key: KEY });
    await open('/');
    await page.getByRole('link', { name: 'Cells' }).click();
    await page.getByRole('img', { name: 'Slots: west 100.0%, east 0.0%' }).waitFor(within);
    const rows = page.getByRole('row');
    await rows.filter({ hasText: 'west' }).getByText('open', { exact: true }).waitFor(within);
    await rows.filter({ hasText: 'east' }).getByText('does not respond').waitFor(within);
    await page.getByText('50.0% of the slots are moving from west to east: closing').waitFor(within);
    await page.getByText('1 owner is being moved.').waitFor(within);
    await page.getByText('copying user ana of default, from west to east').waitFor(within);
    await page.getByText('A cell does not respond: east.').waitFor(within);
    await expectClean();
  });

  it('is for operators alone', async () => {
    const { secret } = await at.api.keys.make({ name: 'of a tenant', scopes: ['admin'], tenant: 'acme' });
    const { page, open } = await at.visit({ key: secret });
    await open('/');
    expect(await page.getByRole('link', { name: 'Cells' }).count()).toBe(0);
    const asked = await fetch(`${at.at}/v1/cells`, { headers: { authorization: `Bearer ${secret}` } });
    expect([asked.status, await asked.json()]).toEqual([403, expect.objectContaining({ code: 'scope_missing' })]);
  });
});
