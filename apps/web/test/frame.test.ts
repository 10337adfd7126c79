import { describe, expect, it } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

const KEY = 'a-key-of-enough-letters';
/** The narrowest telephone that people still use. */
const NARROW = { viewport: { width: 390, height: 844 } };

const PAGES = ['/', '/users'];

describe('a console without keys', () => {
  const at = consoleForTests();

  it.each(PAGES)('shows %s to everybody on this machine, and says so', async (path) => {
    await at.api.memories.add({ user_id: 'ana', memory: 'User has a green bicycle' });
    const { page, open, expectClean } = await at.visit();
    await open(path);
    await page.getByText('This server has no keys').waitFor({ timeout: WITHIN_MS });
    await expectClean();
  });

  it('names the page that is open in the tab', async () => {
    const { page, open } = await at.visit();
    await open('/settings/keys');
    expect(await page.title()).toBe('Settings · Slowwave');
    await page.getByRole('link', { name: 'Users' }).click();
    await expect.poll(() => page.title(), { timeout: WITHIN_MS }).toBe('Users · Slowwave');
  });

  it.each(PAGES)('fits %s on a telephone, in the dark', async (path) => {
    const { open, expectClean } = await at.visit({ ...NARROW, colorScheme: 'dark' });
    await open(path);
    await expectClean();
  });
});

describe('a console with keys', () => {
  const at = consoleForTests({ SLOWWAVE_API_KEY: KEY });

  it('sends somebody who has not signed in to do so, and back to the page after it', async () => {
    const { page } = await at.visit();
    await page.goto(`${at.at}/users?x=1`);
    await page.waitForURL(/\/login\?next=%2Fusers%3Fx%3D1$/, { timeout: WITHIN_MS });
    await page.fill('#key', KEY);
    await page.click('main button');
    await page.waitForURL(/\/users\?x=1$/, { timeout: WITHIN_MS });
    await page.getByRole('heading', { name: 'Users' }).waitFor({ timeout: WITHIN_MS });
  });

  it('signs out', async () => {
    const { page, open } = await at.visit({ key: KEY });
    await open('/');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(/\/login/, { timeout: WITHIN_MS });
    expect(await page.context().cookies()).toEqual([]);
  });

  it('ends when the key ends', async () => {
    const { id, secret } = await at.api.keys.make({ name: 'short', scopes: ['admin'] });
    const { page, open } = await at.visit({ key: secret });
    await open('/users');
    await at.api.keys.revoke(id);
    await expect
      .poll(
        async () => {
          await page.goto(`${at.at}/users`);
          await page.waitForLoadState('networkidle');
          return new URL(page.url()).pathname;
        },
        { timeout: WITHIN_MS },
      )
      .toBe('/login');
  });

  it.each(['/consolidations', '/work'])('shows of %s to a key for one user what is about that user', async (path) => {
    for (const user of ['ana', 'bob']) {
      const { batch_id: id } = await at.api.batches.post({
        user_id: user,
        messages: [{ role: 'user', content: 'I live in Oslo.' }],
        flush: true,
      });
      await at.api.batches.settled(id);
    }
    const { secret } = await at.api.keys.make({ name: 'of ana', user_id: 'ana', scopes: ['ingest', 'manage'] });
    const { page, open, expectClean } = await at.visit({ key: secret });
    await open(path);
    await page.getByRole('link', { name: 'ana' }).first().waitFor({ timeout: WITHIN_MS });
    await expect.poll(() => page.getByRole('link', { name: 'bob' }).count()).toBe(0);
    await expect.poll(() => page.locator('table a[href^="/consolidations/"]').count()).toBe(0);
    await expectClean();
  });

  it('offers a key that may only search nothing that it may not do', async () => {
    const { secret } = await at.api.keys.make({ name: 'reader', scopes: ['search'] });
    const { page, open } = await at.visit({ key: secret });
    await open('/users');
    await expect.poll(() => page.getByRole('navigation').getByRole('link').allTextContents()).not.toContain('Queues');
    const { page: operator, open: openAsOperator } = await at.visit({ key: KEY });
    await openAsOperator('/users');
    await expect.poll(() => operator.getByRole('navigation').getByRole('link').allTextContents()).toContain('Queues');
  });
});
