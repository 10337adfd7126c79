import { describe, expect, it } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

describe('the playground', () => {
  const at = consoleForTests();

  it('shows what a message brings about, what a change of it changes, and what a model would be shown', async () => {
    const { page, open, expectClean } = await at.visit();
    await open('/playground');
    const memory = page.getByRole('region', { name: 'Memory' });
    await memory.getByText('Nothing is remembered').waitFor({ timeout: WITHIN_MS });
    await expectClean();
    const say = async (text: string): Promise<void> => {
      await page.getByLabel('What the user says').fill(text);
      await page.keyboard.press('Enter');
    };
    await say('I live in Oslo.');
    await page.getByText('remembered', { exact: true }).waitFor({ timeout: WITHIN_MS });
    await memory.getByText('Oslo').waitFor({ timeout: WITHIN_MS });
    await say('I live in Bergen now.');
    await page.getByText('changed', { exact: true }).waitFor({ timeout: WITHIN_MS });
    await memory.getByText('Bergen').waitFor({ timeout: WITHIN_MS });
    await memory.getByText('version 2').waitFor({ timeout: WITHIN_MS });
    await memory.getByRole('button', { name: 'Prompt context' }).click();
    await memory.getByText('POST /v1/context').waitFor({ timeout: WITHIN_MS });
    await memory.locator('pre', { hasText: 'Bergen' }).waitFor({ timeout: WITHIN_MS });
    await expectClean();
    const { results } = await at.api.memories.list({ user_id: 'playground' });
    expect(results.map(({ memory: text, version }) => [text.includes('Bergen'), version])).toEqual([[true, 2]]);
  });

  it('begins with a suggestion, on a telephone', async () => {
    const { page, open, expectClean } = await at.visit({ viewport: { width: 390, height: 844 } });
    await open('/playground');
    await page.getByLabel('User', { exact: true }).fill('ana');
    await page.getByRole('button', { name: 'I am Ana' }).click();
    await page.getByText(/^Consolidated in/).waitFor({ timeout: WITHIN_MS });
    await expectClean();
    expect((await at.api.memories.list({ user_id: 'ana' })).results.length).toBeGreaterThan(0);
  });

  it('says what went wrong, in the words of the server', async () => {
    const { page, open } = await at.visit();
    await open('/playground');
    await page.getByLabel('User', { exact: true }).fill('x'.repeat(300));
    await page.getByLabel('What the user says').fill('Hello');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').first().waitFor({ timeout: WITHIN_MS });
    await expect.poll(() => page.getByRole('alert').first().textContent()).toContain('user_id');
  });
});
