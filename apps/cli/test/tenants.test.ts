import { type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from './server.ts';
import { slowwave } from './slowwave.ts';

let folder: TempDir;
let server: TestServer;
beforeAll(async () => {
  folder = await tempDir();
  server = await startServer(folder.path, {});
});
afterAll(async () => {
  await server.stop();
  await folder.remove();
});

const run = (...args: string[]) => slowwave([...args, '--server', server.url]);

test('a setting is changed by its name, and all others stay', async () => {
  expect((await run('settings', 'set', 'timezone=Europe/Oslo')).out).toContain('timezone is now "Europe/Oslo"');
  expect(await run('settings', 'set', 'budgets.tokens_per_day=100000')).toMatchObject({ code: 0 });
  expect((await run('settings', '--json')).json()).toMatchObject({
    timezone: 'Europe/Oslo',
    budgets: { tokens_per_day: 100_000, cost_per_day: null },
    graph: false,
  });
  expect(JSON.parse((await run('settings')).out)).toMatchObject({ timezone: 'Europe/Oslo' });
});

test.each([
  ['timezone', 2, 'expected setting=value'],
  ['tiemzone=Europe/Oslo', 1, 'tiemzone'],
  ['timezone=Oslo', 1, 'timezone'],
  ['budgets.tokens=1', 1, 'tokens'],
])('settings set %s is refused, and nothing is changed', async (word, code, why) => {
  const before = (await run('settings')).out;
  expect(await run('settings', 'set', word)).toMatchObject({ code, err: expect.stringContaining(why) });
  expect((await run('settings')).out).toBe(before);
});

test('what needs approval is listed, approved with another text, or rejected', async () => {
  await run('settings', 'set', 'review=["ADD"]');
  await run('add', 'I live in Oslo. I am allergic to nuts.', '--user', 'rea');
  const { reviews } = (await run('reviews', '--json')).json();
  expect(reviews).toHaveLength(2);
  expect((await run('reviews', '--user', 'rea')).out).toMatch(/ADD +rea/);
  const [first, second] = reviews;
  expect((await run('approve', first.id, '--text', 'Lives in Oslo, Norway')).out).toBe(
    `Review ${first.id} is approved.\n`,
  );
  expect((await run('reject', second.id)).out).toBe(`Review ${second.id} is rejected.\n`);
  expect((await run('reviews')).out).toBe('No review is pending.\n');
  expect((await run('memories', '--user', 'rea')).out).toContain('Lives in Oslo, Norway');
  expect(await run('approve', first.id)).toMatchObject({ code: 1, err: expect.stringContaining('already approved') });
  expect(await run('approve', 'rev_none')).toMatchObject({ code: 4 });
});

test('webhooks are made, listed with their deliveries, and deleted', async () => {
  const made = await run('webhooks', 'create', 'https://example.com/hook', '--events', 'memory.added', '--json');
  const { id, secret } = made.json();
  expect(secret).toMatch(/^\S{16,}$/);
  expect((await run('webhooks', 'list')).out).toMatch(/https:\/\/example.com\/hook +memory.added +active/);
  expect((await run('webhooks', 'list')).out).not.toContain(secret);
  expect((await run('webhooks', 'deliveries', id)).out).toBe('No deliveries found.\n');
  expect((await run('webhooks', 'replay', id)).out).toBe('Deliveries sent again: 0.\n');
  expect((await run('webhooks', 'delete', id)).out).toBe(`Webhook ${id} is deleted.\n`);
  expect((await run('webhooks', 'list')).out).toBe('There are no webhooks.\n');
  expect(await run('webhooks', 'create', 'https://example.com/hook')).toMatchObject({
    code: 1,
    err: expect.stringContaining('events'),
  });
});
