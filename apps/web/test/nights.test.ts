import { describe, expect, it } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

const within = { timeout: WITHIN_MS };

describe('the page of nights', () => {
  const at = consoleForTests();
  const told = async (): Promise<readonly string[]> =>
    (await at.api.memories.list({ user_id: 'ana' })).results.map(({ memory }) => memory);

  it('shows what a night would do and why, applies it and undoes it', async () => {
    const { page, open, expectClean } = await at.visit();
    await open('/nights');
    await page.getByText('No nights found.').waitFor(within);
    for (const memory of ['User likes tea', 'User likes green tea'])
      await at.api.memories.add({ user_id: 'ana', memory });
    await at.api.send('PUT /v1/settings', { body: { sleep: { mode: 'preview', idle_hours: 0 } } });
    await page.getByText('The settings require approval of nights.').waitFor(within);
    await page.getByText('Merged').waitFor(within);
    await page.getByText('1 act, 2 memories changed').waitFor(within);
    await expectClean();
    expect(await told()).toHaveLength(2);
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('applied', { exact: true }).waitFor(within);
    expect(await told()).toEqual(['User likes green tea']);
    await page.getByRole('button', { name: 'Show changes' }).click();
    await page.getByText('Merged').waitFor(within);
    await expectClean();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('undone', { exact: true }).waitFor(within);
    expect((await told()).toSorted()).toEqual(['User likes green tea', 'User likes tea']);
  });
});
