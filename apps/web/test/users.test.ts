import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

const within = { timeout: WITHIN_MS };
const NARROW = { viewport: { width: 390, height: 844 } };

describe('the pages of users', () => {
  const at = consoleForTests();

  it('are found by the beginning of an id, the last active first', async () => {
    for (const user_id of ['ana', 'ben', 'anatol', 'a/b%2F c'])
      await at.api.memories.add({ user_id, memory: 'Has a dog' });
    const { page, open, expectClean } = await at.visit();
    await open('/users');
    const ids = () => page.locator('tbody tr td:first-child').allTextContents();
    await page.getByRole('link', { name: 'anatol' }).waitFor(within);
    expect(await ids()).toEqual(['a/b%2F c', 'anatol', 'ben', 'ana']);
    await page.getByLabel('Search by the beginning of an ID').fill('ana');
    await page.getByRole('link', { name: 'ben' }).waitFor({ ...within, state: 'detached' });
    expect(await ids()).toEqual(['anatol', 'ana']);
    await expectClean();
    await page.getByLabel('Search by the beginning of an ID').fill('zoe');
    await page.getByText('No ID begins with “zoe”').waitFor(within);
    await page.getByLabel('Search by the beginning of an ID').fill('a/');
    await page.getByRole('link', { name: 'a/b%2F c' }).click();
    await page.getByRole('heading', { name: 'a/b%2F c' }).waitFor(within);
    await page.getByText('1 memory', { exact: true }).waitFor(within);
    await page.reload();
    await page.getByRole('button', { name: 'Has a dog' }).waitFor(within);
  });

  it('lead from a search to the message behind an answer, with the words it rests on and why it stands there', async () => {
    await at.say('cleo', 'Hello there. I live in Oslo, since you ask.', 'I play tennis every Sunday.');
    const { page, open, expectClean } = await at.visit();
    await open('/users/user/cleo');
    await page.getByLabel('Search memories').fill('where do I live?');
    const results = page.getByRole('region', { name: 'Search results' });
    await results.getByText(/ranked\. These answer the query/).waitFor(within);
    await results.getByRole('button', { name: /lives in Oslo/ }).click();
    await results.locator('mark', { hasText: 'I live in Oslo' }).waitFor(within);
    await results
      .getByText(/^Score/)
      .first()
      .click();
    await results.getByText('Vector search').first().waitFor(within);
    await results.getByText('The first memory that was left out').click();
    await expectClean();
  });

  it('move through time as a whole: the list, the search and what a chat gets', async () => {
    await at.api.memories.add({ user_id: 'dora', memory: 'User lived in Rome', valid_from: '2020-05-01T00:00:00Z' });
    await at.api.memories.add({ user_id: 'dora', memory: 'User lives in Bergen' });
    const { page, open, expectClean } = await at.visit();
    await open('/users/user/dora');
    await page.getByRole('button', { name: 'User lives in Bergen' }).waitFor(within);
    await page.getByRole('slider').press('Home');
    await page.getByRole('button', { name: 'User lives in Bergen' }).waitFor({ ...within, state: 'detached' });
    await page.getByRole('button', { name: 'User lived in Rome' }).click();
    await page.getByText('Go back to now to change the memory').waitFor(within);
    await expect.poll(() => page.getByRole('button', { name: 'Delete …' }).count()).toBe(0);
    await expectClean();
    await page.getByLabel('Search memories').fill('where does the user live?');
    const results = page.getByRole('region', { name: 'Search results' });
    await results.getByRole('button', { name: 'User lived in Rome' }).waitFor(within);
    await expect.poll(() => results.getByRole('button', { name: 'User lives in Bergen' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Prompt context' }).click();
    await page.getByLabel('Question of the user').fill('where does the user live?');
    await page.getByRole('button', { name: 'Show' }).click();
    const block = page.getByRole('region', { name: 'Context' });
    await block.getByText('User lived in Rome').waitFor(within);
    await expect.poll(() => block.getByText('User lives in Bergen').count()).toBe(0);
    await page.getByRole('button', { name: 'Back to now' }).click();
    await block.getByText('User lives in Bergen').waitFor(within);
    await expectClean();
  });

  it('leave no receipt of what somebody looks at', async () => {
    const { id } = await at.api.memories.add({ user_id: 'fay', memory: 'User lives in Bergen' });
    const { page, open } = await at.visit();
    await open('/users/user/fay');
    await page.getByLabel('Search memories').fill('where does the user live?');
    await page.getByRole('region', { name: 'Search results' }).getByText('lives in Bergen').first().waitFor(within);
    await page.getByRole('button', { name: 'Prompt context' }).click();
    await page.getByLabel('Question of the user').fill('where does the user live?');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('region', { name: 'Context' }).getByText('User lives in Bergen').waitFor(within);
    const { receipt_id: told } = await at.api.memories.search({ user_id: 'fay', query: 'where does the user live?' });
    const receipts = async () => (await at.api.receipts.ofMemory(id)).results.map((receipt) => receipt.id);
    // They are written in their order: what looking had left would be there before the last.
    await expect.poll(receipts, within).toEqual([told]);
  });

  it('show the profile in slots, to which people add lines that they take out again', async () => {
    await at.api.memories.add({ user_id: 'hedda', memory: 'Has a brother', categories: ['family'] });
    const { page, open, expectClean } = await at.visit();
    await open('/users/user/hedda');
    await page.getByText('Profile', { exact: true }).click();
    const profile = page.getByRole('group', { name: 'Profile' });
    await profile.getByRole('region', { name: 'family' }).getByText('Has a brother').waitFor(within);
    await profile.getByRole('button', { name: 'Add a line …' }).click();
    await page.getByLabel('Slot').selectOption('home');
    await page.getByLabel('Text').fill('Hedda lives in Oslo');
    await expectClean();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const home = profile.getByRole('region', { name: 'home' });
    await home.getByText('added by a person').waitFor(within);
    await home.getByRole('button', { name: 'Remove from profile' }).click();
    await home.waitFor({ ...within, state: 'detached' });
    await page.getByRole('button', { name: 'Hedda lives in Oslo' }).waitFor(within);
    await expectClean();
  });

  it('add a memory, rate it, and find a former version', async () => {
    await at.api.memories.add({ user_id: 'eva', memory: 'User has a cat' });
    const { page, open, expectClean } = await at.visit(NARROW);
    await open('/users/user/eva');
    await page.getByRole('button', { name: 'Add a memory …' }).click();
    await page.getByLabel('What to remember').fill('User is allergic to nuts');
    await page.getByLabel('Category').fill('health');
    await page.getByLabel(/^Pin it/).check();
    await expectClean();
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const added = page.getByRole('button', { name: 'User is allergic to nuts' });
    await added.click();
    await page.getByText('health').waitFor(within);
    await page.getByRole('button', { name: 'Good', exact: true }).click();
    await page.getByText('rated good').waitFor(within);
    await expectClean();
    const { results } = await at.api.memories.list({ user_id: 'eva' });
    const allergy = results.find(({ memory }) => memory.includes('nuts'));
    expect(allergy).toMatchObject({ pinned: true, feedback: 'positive', categories: ['health'] });
    await at.api.memories.update(allergy?.id ?? '', { memory: 'User is allergic to eggs' });
    await page.getByLabel('Search memories').fill('allergic');
    await page.getByLabel('Include previous versions').check();
    await page.getByText('previous version', { exact: true }).waitFor(within);
  });

  it('count all that is remembered, and draw few rows until more are asked for', async () => {
    const numbers = Array.from({ length: 230 }, (_, i) => i);
    await Promise.all(
      numbers.map((i) =>
        at.api.memories.add({ user_id: 'gus', memory: `Has note number ${i}`, categories: ['notes'] }),
      ),
    );
    const { page, open, expectClean } = await at.visit();
    await open('/users/user/gus');
    await page.getByText('230 memories', { exact: true }).waitFor(within);
    const rows = page.getByRole('button', { name: /^Has note number/ });
    await expect.poll(() => rows.count()).toBe(25);
    await page.getByRole('button', { name: 'Show more of notes' }).click();
    await expect.poll(() => rows.count()).toBe(125);
    await expectClean();
  });

  it('export everything as a file, and erase it once the id is typed', async () => {
    await at.say('fay', 'I live in Oslo.');
    const { page, open, expectClean } = await at.visit();
    await open('/users/user/fay');
    const download = page.waitForEvent('download', within);
    await page.getByRole('button', { name: 'Export' }).click();
    const saved = await download;
    expect(saved.suggestedFilename()).toBe('fay.ndjson');
    const lines = (await readFile(await saved.path(), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect([lines[0], lines.at(-1)]).toMatchObject([{ type: 'user' }, { type: 'end' }]);
    await page.getByRole('button', { name: 'Erase …' }).click();
    const erase = page.getByRole('button', { name: 'Erase permanently' });
    await expect.poll(() => erase.isDisabled()).toBe(true);
    await page.getByLabel(/to confirm/).fill('fa');
    await expect.poll(() => erase.isDisabled()).toBe(true);
    await page.getByLabel(/to confirm/).fill('fay');
    await expectClean();
    await erase.click();
    const progress = page.getByRole('region', { name: 'Erasure' });
    await progress.getByText('Erased.').waitFor(within);
    expect((await at.api.users.list({ id_prefix: 'fay' })).results).toEqual([]);
    await expectClean();
  });
});

describe('a key for one user', () => {
  const at = consoleForTests({ SLOWWAVE_API_KEY: 'a-key-of-enough-letters' });

  it('sees its own page and no other, and is offered what it may do', async () => {
    for (const user_id of ['ana', 'ben']) await at.api.memories.add({ user_id, memory: `User is called ${user_id}` });
    const { secret } = await at.api.keys.make({ name: 'ana', scopes: ['search', 'manage'], user_id: 'ana' });
    const { page, open, expectClean } = await at.visit({ key: secret });
    await open('/users');
    await page.waitForURL(/\/users\/user\/ana$/, within);
    await page.getByRole('button', { name: 'User is called ana' }).click();
    await page.getByRole('button', { name: 'Very bad' }).waitFor(within);
    await expect.poll(() => page.getByRole('button', { name: 'Add a memory …' }).count()).toBe(1);
    await page.getByRole('link', { name: /^History/ }).click();
    await page.getByText('Added').waitFor(within);
    await expectClean();
    await page.getByRole('button', { name: 'Delete …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    const left = async () => (await at.api.memories.list({ user_id: 'ana' })).results;
    await expect.poll(left, within).toEqual([]);
    await page.goto(`${at.at}/users/user/ben`);
    await page.getByRole('alert').first().waitFor(within);
    await expect.poll(() => page.getByText('User is called ben').count()).toBe(0);
  });
});
