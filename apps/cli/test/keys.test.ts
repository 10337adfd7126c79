import { type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from './server.ts';
import { openLedgerIn, program, slowwave } from './slowwave.ts';

let folder: TempDir;
let server: TestServer | null = null;
beforeAll(async () => {
  folder = await tempDir();
  await (await openLedgerIn(folder.path)).close();
});
afterAll(async () => {
  await server?.stop();
  await folder.remove();
});

const LIMIT = { timeout: 120_000 };
/** The audit log is written beside requests. */
const SOON = { timeout: 60_000 };

it(
  'the first key is made on the ledger; with it a server listens everywhere, and makes the others',
  LIMIT,
  async () => {
    const offline = ['--offline', '--data-dir', folder.path];
    const first = await program(['keys', 'create', 'operator', '--scopes', 'admin', ...offline, '--json']);
    expect(first).toMatchObject({ code: 0, err: '' });
    const { id, secret } = first.json();
    expect(secret).toMatch(new RegExp(`^sw_${id}_`));
    server = await startServer(folder.path, { SLOWWAVE_HOST: '0.0.0.0' });
    const { url } = server;
    const statusWith = async (key?: string): Promise<number> => {
      const headers = key === undefined ? {} : { authorization: `Token ${key}` };
      return (await fetch(`${url}/v1/stats`, { headers })).status;
    };
    expect(await statusWith()).toBe(401);
    expect(await statusWith(secret)).toBe(200);

    const run = (...args: string[]) => slowwave(['keys', ...args, '--server', url], { SLOWWAVE_API_KEY: secret });
    const made = await run('create', 'chat backend', '--scopes', 'ingest,search', '--tenant', 'acme', '--days', '30');
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining('only shown now') });
    const [, madeId = '', madeSecret = ''] = /key +(key_\w+)[\s\S]*secret +(sw_\S+)/.exec(made.out) ?? [];
    expect(await statusWith(madeSecret)).toBe(200);
    const rotated = (await run('rotate', madeId, '--tenant', 'acme', '--grace', '60', '--json')).json();
    expect(rotated.secret).not.toBe(madeSecret);
    expect(await run('revoke', madeId, '--tenant', 'acme')).toMatchObject({ code: 0 });
    const ceilings = async (...args: string[]) =>
      slowwave(['tenants', 'ceilings', 'acme', '--server', url, ...args], { SLOWWAVE_API_KEY: secret });
    expect((await ceilings()).out).toMatch(/tokens per day +no limit[\s\S]*set for +all tenants/);
    const limited = await ceilings('--tokens', '2000000', '--cost', 'none', '--json');
    expect(limited.json()).toEqual({ tenant: 'acme', tokens_per_day: 2_000_000, cost_per_day: null, own: true });
    expect((await ceilings('--cost', 'much')).code).toBe(2);
    expect((await ceilings('--usual')).out).toMatch(/set for +all tenants/);
    const { out } = await run('list', '--tenant', 'acme');
    expect(out).toMatch(/chat backend +ingest,search .* revoked /);
    expect(out).not.toContain('sw_');

    expect(await run('revoke', madeId)).toMatchObject({ code: 4, err: expect.stringContaining(madeId) });
    expect(await run('rotate', madeId, '--tenant', 'acme')).toMatchObject({
      code: 1,
      err: expect.stringContaining('revoked'),
    });
    const audit = (...args: string[]) => slowwave(['audit', '--server', url, ...args], { SLOWWAVE_API_KEY: secret });
    const makers = async () =>
      (await audit('--action', 'POST /v1/keys', '--json')).json().entries.map(({ by }: { by: string }) => by);
    await expect.poll(makers, SOON).toEqual([id, 'offline']);
    const failed = async () => (await audit('--subject', madeId, '--outcome', 'failed')).out;
    await expect.poll(failed, SOON).toMatch(/DELETE \/v1\/keys\/\{id\} +key key_\w+ +failed: not_found/);
    expect(await audit('--outcome', 'good')).toMatchObject({ code: 2, err: expect.stringContaining('refused') });
    expect(await run('create', 'x', '--scopes', 'all')).toMatchObject({
      code: 2,
      err: expect.stringContaining('"all"'),
    });
  },
);
