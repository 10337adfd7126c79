import { answers, echoExtractor, keyedDecider, type Script, startModelServer } from '@slowwave/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

const OTHER = 'another-model';
const honest = answers({
  extract_facts: echoExtractor({ sentences: true }),
  decide_operations: keyedDecider((text) => text.split(' is ')[0] ?? text),
});
/** The other model adds that it heard so. */
const gossip: Script = async (asked) => {
  const reply = await honest(asked);
  if (asked.request.model !== OTHER || !('json' in reply) || asked.name !== 'extract_facts') return reply;
  const { facts } = reply.json as { facts: { text: string }[] };
  return { json: { facts: facts.map((fact) => ({ ...fact, text: `${fact.text.replace(/\.$/, '')}, they say` })) } };
};

const model = await startModelServer({ script: gossip });
afterAll(() => model.close());

/** All that the model was ever sent in a role. */
const sentAs = (role: 'system' | 'user') =>
  model.calls.flatMap(({ request }) =>
    (request.messages as unknown as { role: string; content: string }[]).flatMap((one) =>
      one.role === role ? [one.content] : [],
    ),
  );

describe('the page of a consolidation', () => {
  const at = consoleForTests({ OPENAI_BASE_URL: model.baseUrl, SLOWWAVE_EMBEDDING_MODEL: 'builtin' });
  const said = async (user: string, content: string): Promise<string> => {
    const { batch_id: id } = await at.api.batches.post({
      user_id: user,
      messages: [{ role: 'user', content }],
      flush: true,
    });
    return (await at.api.batches.settled(id)).consolidation_id ?? '';
  };

  it('shows what was said, what became facts, what was compared and why it was decided so', async () => {
    await said('ana', 'Home is Oslo.');
    const id = await said('ana', 'Home is Bergen. Pet is a cat.');
    const { page, open, expectClean } = await at.visit();
    await open('/consolidations?user=ana');
    await expect.poll(() => page.getByRole('row').count(), { timeout: WITHIN_MS }).toBe(3);
    await expectClean();
    await open(`/consolidations/${id}`);
    const messages = page.getByRole('region', { name: 'Messages' });
    await messages.locator('mark', { hasText: 'Home is Bergen.' }).waitFor({ timeout: WITHIN_MS });
    await expect.poll(() => messages.locator('mark').count()).toBe(2);
    const first = page.getByRole('article').filter({ hasText: 'it says something newer' });
    await first.getByText('Compared with 1 memory').click();
    await first.getByRole('link', { name: 'Home is Oslo.' }).waitFor();
    await expect.poll(() => first.locator('ins').allTextContents()).toEqual(['Bergen']);
    await page.getByRole('region', { name: 'Duration' }).getByText('extract').waitFor();
    const exchanges = page.getByRole('region', { name: 'Prompts and answers' });
    await exchanges.locator('summary').first().click();
    await exchanges.getByRole('region', { name: 'Answer of extract' }).getByText('Home is Bergen.').waitFor();
    for (const [part, role] of [
      ['System prompt of extract', 'system'],
      ['User message of extract', 'user'],
    ] as const) {
      const shown = await exchanges.getByRole('region', { name: part }).locator('pre').textContent();
      expect(sentAs(role)).toContain(shown);
    }
    await at.api.settings.replace({ instructions: 'Nothing of pets.' });
    await page.reload();
    await exchanges.locator('summary').first().click();
    await exchanges.getByText('can no longer be rebuilt').waitFor();
    await at.api.settings.replace({});
    await expectClean();
  });

  it('undoes it after it listed what depends on it, and redoes it', async () => {
    const id = await said('bob', 'Home is Oslo.');
    await said('bob', 'Home is Bergen.');
    const memories = async () => (await at.api.memories.list({ user_id: 'bob' })).results.map(({ memory }) => memory);
    const { page, open, expectClean } = await at.visit();
    await open(`/consolidations/${id}`);
    await page.getByRole('button', { name: 'Undo …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('These later changes depend on it').waitFor({ timeout: WITHIN_MS });
    await expect.poll(() => dialog.getByRole('link', { name: 'a consolidation' }).count()).toBe(1);
    await expectClean();
    expect(await memories()).toEqual(['Home is Bergen.']);
    await dialog.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Redo …' }).click({ timeout: WITHIN_MS });
    expect(await memories()).toEqual([]);
    await page.getByRole('button', { name: 'Redo', exact: true }).click();
    await page.getByRole('button', { name: 'Undo …' }).waitFor({ timeout: WITHIN_MS });
    expect(await memories()).toEqual(['Home is Bergen.']);
  });

  it('tries another model, and shows how memories would differ', async () => {
    const id = await said('cyd', 'Home is Rome.');
    const { page, open, expectClean } = await at.visit();
    await open(`/consolidations/${id}`);
    await page.getByRole('button', { name: 'What if …' }).click();
    await page.getByRole('textbox', { name: 'Model' }).fill(OTHER);
    await expectClean();
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.getByText('1 changed').waitFor({ timeout: WITHIN_MS });
    expect((await page.locator('ins').allTextContents()).join('')).toContain('they say');
    await expectClean();
    expect((await at.api.memories.list({ user_id: 'cyd' })).results.map(({ memory }) => memory)).toEqual([
      'Home is Rome.',
    ]);
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByText(/^discard/).waitFor({ timeout: WITHIN_MS });
  });

  it('tries another mode, which compares with nothing', async () => {
    await said('eva', 'Home is Oslo.');
    const id = await said('eva', 'Home is Bergen.');
    const { page, open } = await at.visit();
    await open(`/consolidations/${id}`);
    await page.getByRole('button', { name: 'What if …' }).click();
    await page.getByRole('combobox', { name: 'Mode' }).selectOption('add_only');
    await page.getByRole('textbox', { name: 'Instructions' }).fill('Whatever is said.');
    await page.getByRole('button', { name: 'Try it' }).click();
    const memories = page.getByRole('region', { name: 'Memories' });
    await memories.getByText('1 added').waitFor({ timeout: WITHIN_MS });
    await memories.locator('ins', { hasText: 'Home is Bergen.' }).waitFor();
    await page.getByText('mode: add_only').waitFor();
  });

  it('fits a telephone in the dark', async () => {
    const id = await said('dan', 'Home is Paris. Pet is a dog.');
    const { page, open, expectClean } = await at.visit({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    await open(`/consolidations/${id}`);
    await page.getByRole('region', { name: 'Models' }).waitFor({ timeout: WITHIN_MS });
    await expectClean();
  });
});
