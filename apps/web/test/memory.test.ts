import { describe, expect, it } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

const within = { timeout: WITHIN_MS };

describe('the page of a memory', () => {
  const at = consoleForTests();

  it('shows what each change changed, changes it, and restores what it said before', async () => {
    const { id } = await at.api.memories.add({ user_id: 'ana', memory: 'User has a green bicycle' });
    const { page, open, expectClean } = await at.visit();
    await open(`/memories/${id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Text').fill('User has a blue bicycle');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('ins', { hasText: /^blue$/ }).waitFor(within);
    await expect.poll(() => page.locator('del').allTextContents()).toEqual(['green']);
    await expectClean();
    await page.getByRole('button', { name: 'Pin' }).click();
    await page.getByRole('button', { name: 'Unpin' }).waitFor(within);
    expect(await at.api.memories.get(id)).toMatchObject({ memory: 'User has a blue bicycle', pinned: true });
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('region', { name: 'Current version' }).getByText('User has a green bicycle').waitFor(within);
    expect((await at.api.memories.get(id)).memory).toBe('User has a green bicycle');
  });

  it('shows who said it, which consolidation made it, who was told, and what of the graph rests on it', async () => {
    const { batch_id: batch } = await at.api.batches.post({
      user_id: 'bea',
      graph: true,
      flush: true,
      messages: [
        { role: 'user', name: 'Bea', content: 'Good morning! My brother Jonas works at Acme.' },
        { role: 'assistant', content: 'How nice for him.' },
      ],
    });
    await at.api.batches.settled(batch);
    await expect
      .poll(async () => (await at.api.graph.get({ user_id: 'bea' })).relations.length, within)
      .toBeGreaterThan(0);
    const { results } = await at.api.memories.search({ user_id: 'bea', query: 'Where does Jonas work?' });
    const id = results[0]?.id ?? '';
    await expect.poll(async () => (await at.api.receipts.ofMemory(id)).results.length, within).toBe(1);
    const { page, open, expectClean } = await at.visit();
    await open(`/memories/${id}`);
    await page.locator('mark', { hasText: 'My brother Jonas works at Acme' }).waitFor(within);
    await page.getByRole('button', { name: 'Show the conversation around it' }).click();
    await page.getByText('How nice for him.').waitFor(within);
    const versions = page.getByRole('region', { name: 'History' });
    await expect.poll(() => versions.getByText('from messages of Bea').count()).toBe(1);
    const made = versions.getByRole('link', { name: 'by a consolidation' });
    await expect.poll(() => made.getAttribute('href')).toMatch(/^\/consolidations\/con_/);
    await page.getByRole('region', { name: 'Relations' }).getByText('Jonas works at Acme').waitFor(within);
    await page.getByRole('region', { name: 'Used in answers' }).getByText('Where does Jonas work?').waitFor(within);
    await expectClean();
  });

  it('deletes it only after it showed what falls with it, and gives the keyboard back', async () => {
    const { batch_id: batch } = await at.api.batches.post({
      user_id: 'cid',
      flush: true,
      messages: [{ role: 'user', content: 'I live in Oslo.' }],
    });
    await at.api.batches.settled(batch);
    const [{ id } = { id: '' }] = (await at.api.memories.list({ user_id: 'cid' })).results;
    const { page, open, expectClean } = await at.visit({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    await open(`/memories/${id}`);
    const button = page.getByRole('button', { name: 'Delete …' });
    await button.press('Enter');
    await page.getByRole('dialog').getByText('1 message is hidden completely').waitFor(within);
    await expectClean();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ ...within, state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Delete …');
    expect((await at.api.memories.get(id)).memory).toBe('User lives in Oslo');
    await button.press('Enter');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('was deleted').waitFor(within);
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('region', { name: 'Current version' }).getByText('User lives in Oslo').waitFor(within);
  });
});
