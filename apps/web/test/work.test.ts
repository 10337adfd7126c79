import { answers, echoExtractor, keyedDecider, refusal, type Script, startModelServer } from '@slowwave/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { consoleForTests, WITHIN_MS } from './browsing.ts';

const honest = answers({
  extract_facts: echoExtractor(),
  decide_operations: keyedDecider((text) => text.split(' is ')[0] ?? text),
});
/** Does not read of Oslo, and cannot read of whales, until it is mended. */
const picky: Script = (asked) => {
  const text = JSON.stringify(asked.input);
  if (asked.name === 'extract_graph') return refusal(400, { message: 'no graphs' });
  if (text.includes('Oslo')) return refusal(400, { message: 'not of Oslo' });
  if (text.includes('whale')) return refusal(400, { message: 'too long', code: 'context_length_exceeded' });
  return honest(asked);
};

const model = await startModelServer({ script: picky });
afterAll(() => model.close());

describe('the page of work', () => {
  const at = consoleForTests({
    OPENAI_BASE_URL: model.baseUrl,
    SLOWWAVE_EMBEDDING_MODEL: 'builtin',
    // What is posted without a wish to hurry waits until somebody presses a button.
    SLOWWAVE_BATCH_IDLE_MS: '600000',
    SLOWWAVE_BATCH_MAX_AGE_MS: '600000',
  });
  const say = async (user: string, content: string): Promise<string> => {
    const { batch_id: id } = await at.api.batches.post({
      user_id: user,
      messages: [{ role: 'user', content }],
      flush: true,
    });
    return (await at.api.batches.settled(id)).id;
  };
  const failedJobs = async (): Promise<number> => {
    const answer = await fetch(`${at.at}/queues/api/queues?activeQueue=consolidate&status=failed&page=1`);
    const { queues } = (await answer.json()) as { queues: { name: string; counts: { failed: number } }[] };
    return queues.find(({ name }) => name === 'consolidate')?.counts.failed ?? -1;
  };
  beforeEach(() => model.setScript(picky));

  beforeAll(async () => {
    await say('ana', 'home is Oslo');
    await say('bob', 'home is Oslo');
    await say('cyd', 'pet is a whale');
  }, WITHIN_MS);

  it('groups what is parked by reason, with what mends it', async () => {
    const { page, open, expectClean } = await at.visit();
    await open('/work');
    const parked = page.getByRole('region', { name: 'Parked' });
    await parked.getByRole('heading', { name: 'model_rejected 2 batches' }).waitFor({ timeout: WITHIN_MS });
    await parked.getByText('Use another model').waitFor();
    await parked.getByRole('heading', { name: 'context_too_long 1 batch' }).waitFor();
    await expectClean();
  });

  it('replays one reason after it showed what that is, and leaves no failed job of it', async () => {
    expect(await failedJobs()).toBe(3);
    const { page, open, expectClean } = await at.visit();
    await open('/work');
    model.setScript(honest);
    await page.getByRole('button', { name: 'Replay them …' }).click({ timeout: WITHIN_MS });
    await page.getByRole('dialog').getByText('2 batches will be queued again').waitFor({ timeout: WITHIN_MS });
    await expect.poll(() => page.getByRole('dialog').getByRole('listitem').count()).toBe(2);
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByText('2 of 2 batches').waitFor({ timeout: WITHIN_MS });
    await expectClean();
    await expect.poll(failedJobs, { timeout: WITHIN_MS }).toBe(1);
    await page.getByRole('link', { name: 'All work' }).click();
    await page.getByRole('heading', { name: 'context_too_long 1 batch' }).waitFor({ timeout: WITHIN_MS });
    await expect.poll(() => page.getByRole('heading', { name: 'model_rejected' }).count()).toBe(0);
  });

  it('replays the batches that somebody picks, and leads to their job and to what was decided', async () => {
    const id = await say('dan', 'home is Oslo');
    await say('dan', 'pet is a whale');
    const { page, open, expectClean } = await at.visit();
    await open('/work?user=dan&reason=model_rejected');
    await page.getByRole('link', { name: `Job of ${id}` }).waitFor({ timeout: WITHIN_MS });
    await expect.poll(() => page.getByRole('link', { name: /^Job of/ }).count()).toBe(1);
    const job = await page.request.get(`${at.at}/queues/of/${(await at.api.batches.get(id)).lane}`);
    expect(job.url()).toMatch(/\/queues\/queue\/consolidate\/lane_[^/]+$/);

    model.setScript(honest);
    await page.getByLabel(`Select batch ${id}`).check();
    await page.getByRole('button', { name: 'Replay 1 parked …' }).click();
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByText('1 of 1 batch').waitFor({ timeout: WITHIN_MS });
    await open('/work?user=dan&state=consolidated');
    await page.getByRole('link', { name: 'Why' }).click();
    await page
      .getByRole('region', { name: 'Facts and decisions' })
      .getByText('home is Oslo')
      .first()
      .waitFor({ timeout: WITHIN_MS });
    await expectClean();
  });

  it('lists updates of the graph that failed, and tries them again', async () => {
    const { batch_id: id } = await at.api.batches.post({
      user_id: 'dora',
      graph: true,
      flush: true,
      messages: [{ role: 'user', content: 'sister is a pilot' }],
    });
    await at.api.batches.settled(id);
    const { page, open, expectClean } = await at.visit();
    await open('/work');
    const graph = page.getByRole('article', { name: 'Graph' });
    await graph.getByRole('link', { name: 'dora' }).waitFor({ timeout: WITHIN_MS });
    await graph.locator('summary').click();
    await graph.getByText('no graphs').waitFor();
    await expectClean();
    model.setScript(async (asked) =>
      asked.name === 'extract_graph' ? { json: { entities: [], statements: [] } } : honest(asked),
    );
    await graph.getByRole('button', { name: 'Try again' }).click();
    await graph.waitFor({ state: 'detached', timeout: WITHIN_MS });
    const { consolidation_id: consolidation } = await at.api.batches.get(id);
    await expect
      .poll(
        async () =>
          (await at.api.send('GET /v1/consolidations/{id}/graph', { params: { id: consolidation ?? '' } })).state,
        {
          timeout: WITHIN_MS,
        },
      )
      .toBe('applied');
  });

  it('lets what waits be consolidated now, and shows why something could not be', async () => {
    const { batch_id: id } = await at.api.batches.post({
      user_id: 'fay',
      messages: [{ role: 'user', content: 'home is Oslo' }],
    });
    const { page, open, expectClean } = await at.visit();
    await open('/work?user=fay');
    await page.getByRole('button', { name: 'Consolidate now' }).click({ timeout: WITHIN_MS });
    await page.getByRole('region', { name: 'All batches' }).getByText('model_rejected').click({ timeout: WITHIN_MS });
    await page.getByRole('region', { name: 'All batches' }).getByText('not of Oslo').waitFor();
    await page.getByRole('link', { name: 'Why' }).click();
    await page.getByText('One attempt failed').click({ timeout: WITHIN_MS });
    await expectClean();
    expect((await at.api.batches.get(id)).state).toBe('parked');
  });

  it('fits a telephone in the dark, and says when there is nothing', async () => {
    const { page, open, expectClean } = await at.visit({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    await open('/work?user=nobody');
    await page.getByText('No batches match the filter.').waitFor({ timeout: WITHIN_MS });
    await expectClean();
  });
});
