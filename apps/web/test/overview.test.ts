import { answers, onOneDay, startModelServer } from '@slowwave/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

const said = (userId: string, content: string) => ({
  user_id: userId,
  messages: [{ role: 'user' as const, content }],
  flush: true,
});

describe('the overview', () => {
  const at = consoleForTests();

  it('says that nothing needs anybody, and draws charts of nothing', async () => {
    const { page, open, expectClean } = await at.visit();
    await open('/');
    await page.getByText('Nothing needs your attention').waitFor({ timeout: WITHIN_MS });
    await page.locator('figure[data-drawn="true"]').nth(1).waitFor({ timeout: WITHIN_MS });
    await expectClean();
  });

  it('shows by itself what was accepted and what waits for a person, and leads there', async () => {
    await onOneDay(30_000);
    const { page, open, expectClean } = await at.visit();
    await open('/');
    const accepted = page.locator('section', { hasText: 'Accepted' }).locator('.figure');
    await accepted.getByText('0', { exact: true }).waitFor({ timeout: WITHIN_MS });
    await at.api.settings.replace({
      review: ['ADD'],
      budgets: { tokens_per_day: 1 },
      prices: { builtin: { prompt: 1_000, completion: 1_000 } },
    });
    await at.api.send('POST /v1/batches', { body: said('ana', 'I live in Lisbon.'), query: { wait: 30_000 } });
    await accepted.getByText('1', { exact: true }).waitFor({ timeout: WITHIN_MS });
    const needs = page.getByRole('region', { name: 'Needs attention' });
    const review = needs.getByRole('link', { name: '1 change waits for review' });
    await review.waitFor({ timeout: WITHIN_MS });
    await expect.poll(() => review.getAttribute('href')).toBe('/reviews');
    await needs.getByRole('link', { name: 'The daily limit is reached' }).waitFor({ timeout: WITHIN_MS });
    const batches = page.getByRole('img', { name: /^Batches by hour/ });
    await expect.poll(() => batches.getAttribute('aria-label')).toContain('Consolidated: 1');
    await page.getByRole('button', { name: 'Cost', exact: true }).click();
    const cost = page.getByRole('img', { name: /^Cost of models by day and step/ });
    await expect.poll(() => cost.getAttribute('aria-label')).toMatch(/extract: \d+\.\d+/);
    await page.reload();
    const drift = page.getByRole('region', { name: 'Drift' });
    await drift.getByText('No figure is significantly worse').waitFor({ timeout: WITHIN_MS });
    await drift.getByText('All figures').click();
    const stand = drift.getByRole('row', { name: /^quotes stand – 100%/ });
    await stand.waitFor({ timeout: WITHIN_MS });
    await expectClean();
  });

  it('shows a week as well, on a telephone in the dark', async () => {
    const { page, open, expectClean } = await at.visit({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    await open('/');
    await page.getByRole('button', { name: 'Last 7 days' }).click();
    await page.locator('figure[data-drawn="true"]').nth(1).waitFor({ timeout: WITHIN_MS });
    await expectClean();
  });
});

describe('the overview of a server whose model does not work', async () => {
  const model = await startModelServer({ script: answers({}), apiKey: 'the-right-key' });
  afterAll(() => model.close());
  const KEY = 'a-key-of-enough-letters';
  const at = consoleForTests({
    ...{ OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'a-wrong-key', SLOWWAVE_CHAT_MODEL: 'scripted' },
    ...{ SLOWWAVE_EMBEDDING_MODEL: 'builtin', SLOWWAVE_CHAT_TRY: 'on', SLOWWAVE_API_KEY: KEY },
  });

  it('names the model and what to do, to the operator', async () => {
    const { page, open, expectClean } = await at.visit({ key: KEY });
    await open('/');
    const needs = page.getByRole('region', { name: 'Needs attention' });
    const failing = needs.getByRole('link', { name: 'scripted fails' });
    await failing.waitFor({ timeout: WITHIN_MS });
    await expect.poll(() => failing.getAttribute('href')).toBe('/settings/models');
    await needs.getByText('correct OPENAI_API_KEY').waitFor({ timeout: WITHIN_MS });
    await expectClean();
  });

  it('shows a key of one user no figures of others', async () => {
    const { secret } = await at.api.keys.make({ name: 'of ana', scopes: ['search'], user_id: 'ana' });
    const { page, open, expectClean } = await at.visit({ key: secret });
    await open('/');
    await page.waitForURL(/\/users\/user\/ana$/, { timeout: WITHIN_MS });
    await page.getByRole('heading', { name: 'ana' }).waitFor({ timeout: WITHIN_MS });
    await expectClean();
  });
});
