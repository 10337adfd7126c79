import { describe, expect, it } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

describe('the page of canaries', () => {
  const at = consoleForTests();
  const say = async (user: string, content: string): Promise<void> => {
    const { batch_id: id } = await at.api.batches.post({
      user_id: user,
      messages: [{ role: 'user', content }],
      flush: true,
    });
    await at.api.batches.settled(id);
  };

  it('starts one, shows what it does, and undoes what it wrote once that was shown', async () => {
    const { page, open, expectClean } = await at.visit();
    await open('/canaries');
    await page.getByText('There are no canaries yet.').waitFor({ timeout: WITHIN_MS });
    await page.getByRole('button', { name: 'Start a canary' }).click();
    await page.getByLabel('How new facts change memories').fill('Keep both addresses.');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('decide instructions: Keep both addresses.').waitFor({ timeout: WITHIN_MS });
    await page.getByText('1% of the owners, step 1 of 4').waitFor({ timeout: WITHIN_MS });
    await expectClean();
    const [{ id = '' } = {}] = (await at.api.send('GET /v1/canaries', {})).results;
    await page.getByRole('button', { name: 'Stop, keep changes' }).click();
    await page.getByText('stopped', { exact: true }).waitFor({ timeout: WITHIN_MS });
    expect((await at.api.canaries.get(id)).state).toBe('stopped');

    const steps = [{ share: 100, min_seconds: 3_600, min_consolidations: 1_000 }];
    const all = await at.api.canaries.start({ changes: { decide_instructions: 'Keep both addresses.' }, steps });
    for (const user of ['ana', 'bob']) await say(user, `I am ${user} and I live in Oslo.`);
    await open(`/canaries/${all.id}`);
    await page.getByText('2 of 2 owners have 2 consolidations').waitFor({ timeout: WITHIN_MS });
    const consolidations = await at.api.send('GET /v1/consolidations', { query: { user_id: 'ana' } });
    await open(`/consolidations/${consolidations.results[0]?.id}`);
    await page.getByRole('link', { name: 'a canary' }).click();
    await page.getByRole('button', { name: 'Undo …' }).click();
    await page.getByText('2 consolidations of 2 owners will be undone, and 2 batches').waitFor({ timeout: WITHIN_MS });
    await expectClean();
    await page.getByRole('button', { name: 'Undo and consolidate again' }).click();
    await page.getByText('undone', { exact: true }).waitFor({ timeout: WITHIN_MS });
    await page.getByText('2 of 2 owners').first().waitFor({ timeout: WITHIN_MS });
    await expectClean();
    for (const user of ['ana', 'bob'])
      expect((await at.api.memories.list({ user_id: user })).results.map(({ memory }) => memory)).toContain(
        'User lives in Oslo',
      );
  });
});
