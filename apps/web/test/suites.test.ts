import { answers, echoExtractor, keyedDecider, startModelServer } from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

const CITIES = ['Oslo', 'Lisbon', 'Turin', 'Graz', 'Lyon', 'Porto', 'Utrecht'];
const works = answers({
  extract_facts: echoExtractor(),
  decide_operations: keyedDecider((text) => text.split(' is ')[0] ?? text),
});
const forgetful = answers({ extract_facts: () => ({ facts: [] }) });

const model = await startModelServer({
  script: (asked) => (asked.request.model === 'forgetful' ? forgetful(asked) : works(asked)),
});
afterAll(() => model.close());

describe('the pages of suites', () => {
  const at = consoleForTests({ OPENAI_BASE_URL: model.baseUrl, SLOWWAVE_EMBEDDING_MODEL: 'builtin' });

  beforeAll(async () => {
    for (const city of CITIES) await at.say(`from ${city}`, `home is ${city}`);
    await at.api.suites.make({ name: 'daily', record: { owners: CITIES.length, batches_per_owner: 5, mask: false } });
    const run = await at.api.suites.run('daily', { model: 'forgetful' });
    if ('dry_run' in run) throw new Error('expected a run, got an estimate');
    const passed = async () => (await at.api.suites.getRun('daily', run.id)) as { readonly passed: boolean | null };
    await vi.waitUntil(async () => (await passed()).passed === false, { timeout: WITHIN_MS, interval: 200 });
  }, 2 * WITHIN_MS);

  it('lead from the list to a run that is blocked, with its figures and the facts that were lost', async () => {
    const { page, open, expectClean } = await at.visit();
    await open('/suites');
    await expectClean();
    await page.getByRole('link', { name: 'daily' }).click({ timeout: WITHIN_MS });
    await page.getByText(/^A run of 7 cases takes about/u).waitFor({ timeout: WITHIN_MS });
    await page.getByText('blocked').waitFor({ timeout: WITHIN_MS });
    await expectClean();
    await page.getByRole('link', { name: 'model: forgetful' }).click();
    await page.getByRole('row', { name: /^facts kept worse 1\.000 0\.000/u }).waitFor({ timeout: WITHIN_MS });
    const lost = page.getByRole('region', { name: 'Lost facts' });
    await expect.poll(() => lost.getByRole('listitem').count()).toBe(CITIES.length);
    await lost.getByText('home is Oslo').waitFor();
    await expectClean();
  });

  it('let people say what is right and what is missing, and show how far they agree', async () => {
    const run = await at.api.suites.run('daily', {});
    if ('dry_run' in run) throw new Error('expected a run, got an estimate');
    const state = async () => ((await at.api.suites.getRun('daily', run.id)) as { readonly state: string }).state;
    await vi.waitUntil(async () => (await state()) === 'done', { timeout: WITHIN_MS, interval: 200 });
    const { messages } = await at.api.suites.sample({ name: 'daily', id: run.id });
    const said = messages.map(({ id }) => ({ item: id, verdict: 'complete' as const }));
    await at.api.suites.assess({ name: 'daily', id: run.id }, { by: 'bo', assessments: said });

    const { page, open, expectClean } = await at.visit();
    await open(`/suites/daily/${run.id}`);
    await page.getByRole('link', { name: 'Assess' }).click({ timeout: WITHIN_MS });
    const sampled = page.getByRole('region', { name: 'Message' });
    await sampled.first().waitFor({ timeout: WITHIN_MS });
    await expect.poll(() => sampled.count()).toBe(CITIES.length);
    await expect
      .poll(() => page.getByRole('button', { name: 'Right' }).first().isDisabled(), { message: 'nobody has said who' })
      .toBe(true);
    await page.getByLabel('Your name').fill('ana');
    await sampled.first().getByRole('button', { name: 'Right' }).click({ timeout: WITHIN_MS });
    await sampled.first().getByRole('button', { name: 'Something is missing' }).click({ timeout: WITHIN_MS });
    await page.getByRole('row', { name: /^ana and bo agree – 0 of 1/u }).waitFor({ timeout: WITHIN_MS });
    await page.getByRole('row', { name: /^ana 100% of 1/u }).waitFor({ timeout: WITHIN_MS });
    await expectClean();
  });
});
