import { once } from 'node:events';
import { createServer } from 'node:http';
import { freePort } from '@slowwave/testkit';
import { describe, expect, it } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

const KEY = 'a-key-of-enough-letters';
const NARROW = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const;

const PAGES = ['', '/review', '/due', '/retention', '/budgets', '/keys', '/webhooks', '/audit', '/models', '/health'];

describe('the settings', () => {
  const at = consoleForTests({ SLOWWAVE_API_KEY: KEY, SLOWWAVE_ALLOW_PRIVATE_URLS: '127.0.0.1' });

  it.each(PAGES)('are usable by everybody at /settings%s, on a telephone in the dark', async (path) => {
    const { page, open, expectClean } = await at.visit({ key: KEY, ...NARROW });
    await open(`/settings${path}`);
    await page.getByRole('navigation', { name: 'Settings' }).locator('[aria-current]').waitFor({ timeout: WITHIN_MS });
    await page.waitForLoadState('networkidle');
    await expectClean();
  });

  it('are tried on a transcript before they are saved, and saved as a whole', async () => {
    const { page, open, expectClean } = await at.visit({ key: KEY });
    await open('/settings/review');
    await page.getByLabel('ADD').check();
    const trial = page.getByRole('region', { name: 'Try on a transcript' });
    await trial.getByLabel('Conversation').fill('I live in Lisbon.\nassistant: Noted!');
    await trial.getByRole('button', { name: 'Try' }).click();
    await trial.getByText('waits for review').waitFor({ timeout: WITHIN_MS });
    expect((await at.api.settings.get()).review).toEqual([]);
    await expectClean();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => (await at.api.settings.get()).review, { timeout: WITHIN_MS }).toEqual(['ADD']);
  });

  it('choose another model for one step', async () => {
    const { page, open, expectClean } = await at.visit({ key: KEY });
    await open('/settings');
    await page.getByText('Models by step').click();
    await page.getByLabel('Decide what they change').fill('builtin');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => (await at.api.settings.get()).models, { timeout: WITHIN_MS })
      .toEqual({ decide: 'builtin' });
    await expectClean();
    await page.getByText('Models by step').click();
    await page.getByLabel('Decide what they change').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => (await at.api.settings.get()).models, { timeout: WITHIN_MS }).toEqual({});
  });

  it('say when what is said is consolidated, and what models cost, tried before it is saved', async () => {
    const { page, open, expectClean } = await at.visit({ key: KEY });
    await open('/settings/due');
    await page.getByLabel('Seconds since the last message').fill('1.5');
    await page.getByLabel('Exchanges').fill('4');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => (await at.api.settings.get()).due, { timeout: WITHIN_MS })
      .toEqual({ idle_ms: 1_500, exchanges: 4 });
    await open('/settings/budgets');
    await page.getByLabel('Model').fill('builtin');
    await page.getByRole('button', { name: 'Add a price' }).click();
    await page.getByLabel('Prompt tokens').fill('1000');
    await page.getByLabel('Completion tokens').fill('2000');
    const trial = page.getByRole('region', { name: 'Try on a transcript' });
    await trial.getByRole('button', { name: 'Try' }).click();
    await trial.getByText(/cost \d/).waitFor({ timeout: WITHIN_MS });
    await expectClean();
    expect((await at.api.settings.get()).prices).toEqual({});
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => (await at.api.settings.get()).prices, { timeout: WITHIN_MS })
      .toEqual({ builtin: { prompt: 1_000, completion: 2_000 } });
    await page.getByRole('button', { name: 'Remove the price of builtin' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => (await at.api.settings.get()).prices, { timeout: WITHIN_MS }).toEqual({});
  });

  it('are tried in any mode that a batch may have', async () => {
    const { page, open } = await at.visit({ key: KEY });
    await open('/settings');
    const trial = page.getByRole('region', { name: 'Try on a transcript' });
    await trial.getByLabel('Conversation').fill('Whatever I say, word for word.');
    await trial.getByLabel('Mode').selectOption('verbatim');
    await trial.getByRole('button', { name: 'Try' }).click();
    await trial.locator('ins', { hasText: 'Whatever I say, word for word.' }).waitFor({ timeout: WITHIN_MS });
  });

  it('show what retention would remove before it does', async () => {
    const { page, open } = await at.visit({ key: KEY });
    await at.api.memories.add({ user_id: 'old', memory: 'Has a cat' });
    await at.api.memories.add({ user_id: 'old', memory: 'Has a dog' });
    await open('/settings/retention');
    await page.getByLabel('Maximum number of memories per user').fill('1');
    await page.getByRole('button', { name: 'Show' }).click();
    const row = page.locator('dl div', { hasText: 'because there are too many' });
    await row.getByText('1', { exact: true }).waitFor({ timeout: WITHIN_MS });
    expect((await at.api.settings.get()).forgetting.max_memories).toBeNull();
  });

  it('show the secret of a key once, and revoke it', async () => {
    const { page, open, expectClean } = await at.visit({ key: KEY });
    await open('/settings/keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill('for the chat');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Secret' });
    const shown = dialog.locator('pre', { hasText: /^sw_/ });
    await shown.waitFor({ timeout: WITHIN_MS });
    const secret = (await shown.textContent()) ?? '';
    await expectClean();
    await dialog.getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('row', { name: /for the chat/ });
    await row.getByText('valid').waitFor({ timeout: WITHIN_MS });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('revoked').waitFor({ timeout: WITHIN_MS });
    expect(await page.content()).not.toContain(secret);
  });

  it('list what was sent to a webhook, and send it again', async () => {
    const received: string[] = [];
    const port = await freePort();
    const receiver = createServer((request, response) => {
      received.push(String(request.url));
      response.end();
    });
    await once(receiver.listen(port, '127.0.0.1'), 'listening');
    try {
      const { page, open } = await at.visit({ key: KEY });
      await open('/settings/webhooks');
      await page.getByRole('button', { name: 'Create a webhook' }).click();
      await page.getByLabel('URL').fill(`http://127.0.0.1:${port}/told`);
      await page.getByLabel('memory.added').check();
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByRole('button', { name: 'Done' }).click();
      await at.api.memories.add({ user_id: 'ana', memory: 'Plays chess' });
      await expect.poll(() => received.length, { timeout: WITHIN_MS }).toBe(1);
      await page.getByRole('button', { name: 'Deliveries' }).click();
      await page.getByRole('button', { name: 'Resend' }).click();
      await expect.poll(() => received.length, { timeout: WITHIN_MS }).toBe(2);
    } finally {
      receiver.close();
      receiver.closeAllConnections();
    }
  });

  it('tell a dry run in the audit log from what was done', async () => {
    const { id } = await at.api.memories.add({ user_id: 'eve', memory: 'Likes tea' });
    await at.api.send('DELETE /v1/memories/{id}', { params: { id }, query: { dry_run: 'true' } });
    const { page, open } = await at.visit({ key: KEY });
    await open('/settings/audit');
    await page.getByLabel('Object').fill(id);
    const dry = page.getByRole('row', { name: /DELETE \/v1\/memories\/\{id\}/ });
    await dry.getByText('dry run').waitFor({ timeout: WITHIN_MS });
  });

  it('have no page of another name, and say so', async () => {
    const { page, open } = await at.visit({ key: KEY });
    await open('/settings/nothing');
    await page.getByRole('heading', { name: 'Page not found' }).waitFor({ timeout: WITHIN_MS });
  });

  it('offer a key only what it may change', async () => {
    const { secret } = await at.api.keys.make({ name: 'manager', scopes: ['manage'] });
    const { page, open } = await at.visit({ key: secret });
    await open('/settings');
    const offered = await page.getByRole('navigation', { name: 'Settings' }).getByRole('link').allTextContents();
    expect(offered).toEqual(['What is remembered', 'Review', 'Timing', 'Retention', 'Budgets and prices', 'Webhooks']);
  });
});
