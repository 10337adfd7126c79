import { describe, expect, it } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

describe('the page of a memory', () => {
  const at = consoleForTests();

  it('shows what each change changed, and changes it', async () => {
    const { id } = await at.api.memories.add({ user_id: 'ana', memory: 'User has a green bicycle' });
    const { page, open, expectClean } = await at.visit();
    await open(`/memories/${id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Text').fill('User has a blue bicycle');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('ins', { hasText: /^blue$/ }).waitFor({ timeout: WITHIN_MS });
    expect(await page.locator('del').allTextContents()).toEqual(['green']);
    await expectClean();
    await page.getByRole('button', { name: 'Pin' }).click();
    await page.getByRole('button', { name: 'Unpin' }).waitFor({ timeout: WITHIN_MS });
    expect(await at.api.memories.get(id)).toMatchObject({ memory: 'User has a blue bicycle', pinned: true });
  });

  it('deletes it only after it showed what falls with it, and gives the keyboard back', async () => {
    const { id } = await at.api.memories.add({ user_id: 'ana', memory: 'User has a cat' });
    const { page, open, expectClean } = await at.visit();
    await open(`/memories/${id}`);
    const button = page.getByRole('button', { name: 'Delete …' });
    await button.press('Enter');
    await page.getByRole('dialog').getByText('With it, words in 0 messages').waitFor({ timeout: WITHIN_MS });
    await expectClean();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached', timeout: WITHIN_MS });
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Delete …');
    expect((await at.api.memories.get(id)).memory).toBe('User has a cat');
    await button.press('Enter');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('was deleted').waitFor({ timeout: WITHIN_MS });
  });
});
