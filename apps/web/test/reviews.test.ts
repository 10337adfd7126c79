import { beforeAll, describe, expect, it } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

describe('the page of reviews', () => {
  const at = consoleForTests();
  const wait = async (user: string, ...texts: string[]): Promise<void> => {
    for (const content of texts) {
      const { batch_id: id } = await at.api.batches.post({
        user_id: user,
        messages: [{ role: 'user', content }],
        flush: true,
      });
      await at.api.batches.settled(id);
    }
  };
  const memories = async (user: string) =>
    (await at.api.memories.list({ user_id: user })).results.map(({ memory }) => memory).sort();
  const states = async (user: string) => (await at.api.send('GET /v1/reviews', { query: { user_id: user } })).results;
  beforeAll(async () => {
    const settings = await at.api.settings.get();
    await at.api.settings.replace({ ...(settings as object), review: ['ADD'] } as never);
  });

  it('is worked through by keys: next, approve, edit, reject', async () => {
    await wait('ana', 'I live in Oslo.', 'I have a dog.', 'I like tea.');
    const { page, open, expectClean } = await at.visit();
    await open('/reviews?user=ana');
    await expect.poll(() => page.getByRole('article').count(), { timeout: WITHIN_MS }).toBe(3);
    const focused = () => page.evaluate('document.activeElement.textContent');
    await page.keyboard.press('j');
    expect(await focused()).toContain('tea');
    await page.keyboard.press('r');
    await expect.poll(() => page.getByRole('article').count(), { timeout: WITHIN_MS }).toBe(2);
    // The next one has taken its place, and the focus.
    expect(await focused()).toContain('dog');
    await page.keyboard.press('j');
    expect(await focused()).toContain('Oslo');
    await page.keyboard.press('k');
    await page.keyboard.press('e');
    const field = page.getByLabel('What to remember');
    await field.waitFor({ timeout: WITHIN_MS });
    // What is typed is text, also where it is a key of the list.
    await field.press('End');
    await field.pressSequentially(' named raj');
    await expect.poll(() => field.inputValue()).toMatch(/named raj$/);
    await expectClean();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await expect.poll(() => page.getByRole('article').count(), { timeout: WITHIN_MS }).toBe(1);
    expect(await focused()).toContain('Oslo');
    await page.keyboard.press('a');
    await page.getByText('No changes are waiting for review.').waitFor({ timeout: WITHIN_MS });
    expect((await states('ana')).map(({ state }) => state).sort()).toEqual(['approved', 'approved', 'rejected']);
    const [first, second] = await memories('ana');
    expect(`${first} ${second}`).toMatch(/named raj/);
    expect(`${first} ${second}`).toMatch(/Oslo/);
  });

  it('leaves letters alone where the keys are switched off', async () => {
    await wait('eve', 'I live in Rome.');
    const { page, open } = await at.visit();
    await open('/reviews?user=eve');
    await page.getByLabel('Keyboard shortcuts').uncheck();
    for (const key of ['j', 'a', 'r']) await page.keyboard.press(key);
    await open('/reviews?user=eve');
    await expect.poll(() => page.getByLabel('Keyboard shortcuts').isChecked()).toBe(false);
    expect((await states('eve')).map(({ state }) => state)).toEqual(['pending']);
  });

  it('decides many at once', async () => {
    await wait('bob', 'I live in Oslo.', 'I have a dog.');
    const { page, open, expectClean } = await at.visit({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    await open('/reviews?user=bob');
    await page.getByRole('button', { name: 'Select all' }).click();
    await expectClean();
    await page.getByRole('button', { name: 'Approve selected (2)' }).click();
    await page.getByText('No changes are waiting for review.').waitFor({ timeout: WITHIN_MS });
    expect(await memories('bob')).toHaveLength(2);
    await page.getByRole('button', { name: 'Approved' }).click();
    await expect.poll(() => page.getByRole('article').count(), { timeout: WITHIN_MS }).toBe(2);
    await expectClean();
  });
});
