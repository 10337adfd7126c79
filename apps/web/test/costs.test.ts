import { describe, expect, it } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

describe('the page of costs', () => {
  const at = consoleForTests();

  it('shows what calls cost by day and by what they were for, as a file too', async () => {
    const { page, open, expectClean } = await at.visit();
    await open('/costs');
    await page.getByText('No model was called in this period.').waitFor({ timeout: WITHIN_MS });
    await at.api.settings.replace({ prices: { builtin: { prompt: 1_000, completion: 1_000 } } });
    const body = { user_id: 'ana', messages: [{ role: 'user' as const, content: 'I live in Lisbon.' }], flush: true };
    await at.api.send('POST /v1/batches', { body, query: { wait: 30_000 } });
    await open('/costs');
    await page.getByRole('button', { name: 'Cost', exact: true }).click();
    const chart = page.getByRole('img', { name: /^Cost of model calls by day/ });
    await chart.waitFor({ timeout: WITHIN_MS });
    await expect.poll(() => chart.getAttribute('aria-label')).toMatch(/Answered: \d+(\.\d+)?/);
    await page.getByRole('row', { name: /^extract 1 / }).waitFor({ timeout: WITHIN_MS });
    await page.getByRole('button', { name: 'User', exact: true }).click();
    await page.getByRole('row', { name: /^ana / }).waitFor({ timeout: WITHIN_MS });
    const file = await page.getByRole('link', { name: 'Download CSV' }).getAttribute('href');
    expect(file).toContain('group_by=user');
    expect(file).toContain('format=csv');
    await expectClean();
  });
});
