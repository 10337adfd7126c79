import { describe, expect, it } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

const MOVED = '2025-06-01T00:00:00Z';

describe('the graph of a user', () => {
  const at = consoleForTests();

  /** Ana worked at Acme, works at Umbrella now, and has a sister of two names. */
  const relate = async (user: string): Promise<void> => {
    const of = { user_id: user, source: { self: true } } as const;
    const place = (name: string) => ({ name, kind: 'organisation' }) as const;
    await at.api.graph.relate({
      ...of,
      relationship: 'works_at',
      destination: place('Acme'),
      valid_from: '2024-01-01T00:00:00Z',
      invalid_at: MOVED,
    });
    await at.api.graph.relate({ ...of, relationship: 'works_at', destination: place('Umbrella'), valid_from: MOVED });
    for (const name of ['Miriam', 'Myriam'])
      await at.api.graph.relate({ ...of, relationship: 'has_sister', destination: { name, kind: 'person' } });
  };

  it('shows what holds and what has ended, and what was before when the slider moves', async () => {
    await relate('ana');
    const { page, open, expectClean } = await at.visit();
    await open('/graph?user=ana');
    const relations = page.getByRole('region', { name: 'Relations' });
    await relations.getByText('works at Umbrella').waitFor({ timeout: WITHIN_MS });
    await expect.poll(() => relations.getByText(/works at Acme\s+ended/).count()).toBe(1);
    await expectClean();
    const slider = page.getByRole('slider');
    await slider.focus();
    await page.keyboard.press('Home');
    await relations.getByText('works at Umbrella').waitFor({ state: 'detached', timeout: WITHIN_MS });
    await expect.poll(() => relations.getByText('works at Acme').count()).toBe(1);
    await expect.poll(() => relations.getByText('ended').count()).toBe(0);
  });

  it('shows what a relation rests on, and denies it', async () => {
    const { batch_id: id } = await at.api.batches.post({
      user_id: 'ben',
      graph: true,
      flush: true,
      messages: [{ role: 'user', content: 'My brother Jonas works at Acme.' }],
    });
    await at.api.batches.settled(id);
    // Relations are learnt after it is consolidated, and a page that is open does not ask for them again.
    await expect.poll(async () => (await at.api.graph.get({ user_id: 'ben' })).relations).not.toEqual([]);
    const { page, open, expectClean } = await at.visit();
    await open('/graph');
    await page.getByLabel('User').fill('ben');
    await page.keyboard.press('Enter');
    const relations = page.getByRole('region', { name: 'Relations' });
    const first = relations.locator('details').first();
    await first.locator('summary').click({ timeout: WITHIN_MS });
    await first.getByText('My brother Jonas works at Acme.').first().waitFor({ timeout: WITHIN_MS });
    await expectClean();
    const before = await relations.locator('details').count();
    await first.getByRole('button', { name: 'Never true' }).click();
    await expect.poll(() => relations.locator('details').count(), { timeout: WITHIN_MS }).toBeLessThan(before);
  });

  it('fits on a telephone, in the dark, and says what to do where nothing is known', async () => {
    await relate('cleo');
    const { page, open, expectClean } = await at.visit({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    await open('/graph?user=cleo');
    await page.getByText('works at Umbrella').waitFor({ timeout: WITHIN_MS });
    await expectClean();
    await open('/graph?user=nobody');
    await page.getByText('There are no relations for nobody').waitFor({ timeout: WITHIN_MS });
  });
});
