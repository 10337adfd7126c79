import { answers, echoExtractor, keyedDecider, type ModelServer, startModelServer } from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, found, get, post, quiet, said } from './client.ts';
import { type Setup, standalone } from './setups.ts';

const TIMEOUT_MS = 120_000;
/** A job gathers for some seconds. */
const WITHIN = { timeout: 60_000, interval: 100 };

const script = answers({
  extract_facts: echoExtractor(),
  decide_operations: keyedDecider((text) => text.split(' lives')[0] ?? null),
});

let model: ModelServer;
let setup: Setup;
beforeAll(async () => {
  model = await startModelServer({ script });
  setup = await standalone({
    OPENAI_BASE_URL: model.baseUrl,
    SLOWWAVE_CHAT_MODEL: 'gpt-4.1-mini',
    SLOWWAVE_CHAT_TRY: 'off',
    SLOWWAVE_CHAT_BATCHES: 'backfill',
    SLOWWAVE_EMBEDDING_MODEL: 'builtin',
  });
});
afterAll(async () => {
  await setup.close();
  await model.close();
});

const send = async (userId: string, text: string, priority: 'live' | 'backfill' = 'backfill'): Promise<string> => {
  const { body } = await post(`${setup.ingest}/v1/batches`, { ...said(userId, text), priority, flush: true });
  return body.batch_id;
};
const batch = async (id: string) => (await get(`${setup.ingest}/v1/batches/${id}`)).body;
const consolidation = async (id: string) =>
  (await get(`${setup.console}/v1/consolidations/${(await batch(id)).consolidation_id}`)).body;
const made = (status: string) => model.batches.made.filter((one) => one.status === status).length;
/** The names of the calls that were made one by one since. */
function askedSince() {
  const before = model.calls.length;
  return () => model.calls.slice(before).map(({ name }) => name);
}
const submitted = () => expect.poll(() => made('in_progress'), WITHIN).toBe(1);
/** What a worker that died was about to do is done by another one after a minute. */
const AFTER_A_DEATH = { timeout: 150_000, interval: 500 };
const cleaned = (within = WITHIN) => expect.poll(() => model.batches.files(), within).toEqual([]);

describe('backfill', { timeout: 2 * TIMEOUT_MS }, () => {
  it('is extracted in one batch of the provider at half the price, and waits visibly', async () => {
    const asked = askedSince();
    const ids = await Promise.all(['ann', 'bob', 'cleo'].map((user) => send(user, `${user} lives in Oslo`)));
    await submitted();
    expect(model.batches.made).toMatchObject([{ questions: 3 }]);
    for (const id of ids)
      expect(await batch(id)).toMatchObject({
        state: 'consolidating',
        attempts: 0,
        error: { code: 'waits_for_batch' },
      });
    await model.batches.finish();
    expect(await quiet(setup.console)).toMatchObject({ consolidated: 3, gap: 0 });
    expect(asked()).toEqual([]);
    expect(model.batches.bill).toHaveLength(3);
    expect(await found(setup.search, 'bob', 'where does bob live')).toEqual(['bob lives in Oslo']);
    const { plan, answers: kept } = await consolidation(ids[0] ?? '');
    expect(kept).toMatchObject([{ step: 'extract', model: 'gpt-4.1-mini (batch)' }]);
    const { prompt_tokens: read, completion_tokens: written } = plan.usage;
    expect(plan.cost).toBeCloseTo((read * 0.4 + written * 1.6) / 1_000_000 / 2, 12);
    const billed = model.batches.bill.reduce((sum, { tokens }) => sum + tokens.prompt + tokens.completion, 0);
    const { usage } = (await get(`${setup.console}/v1/stats`)).body;
    expect(usage.prompt_tokens + usage.completion_tokens).toBe(billed);
    await cleaned();
  });

  it('is taken back by the first live message; an answer that comes late is kept, and not applied', async () => {
    const asked = askedSince();
    const [old] = await Promise.all([send('dan', 'dan lives in Oslo'), send('eve', 'eve lives in Rome')]);
    await submitted();
    const live = await send('dan', 'dan lives in Bergen', 'live');
    await expect.poll(async () => (await batch(live)).state, WITHIN).toBe('consolidated');
    expect(await found(setup.search, 'dan', 'where does dan live')).toEqual(['dan lives in Bergen']);
    const before = asked();
    expect(before).toEqual(['extract_facts', 'extract_facts', 'decide_operations']);
    await model.batches.finish();
    expect(await quiet(setup.console)).toMatchObject({ parked: 0, gap: 0 });
    await cleaned();
    expect(asked()).toEqual(before);
    expect(await found(setup.search, 'dan', 'where does dan live')).toEqual(['dan lives in Bergen']);
    const { answers: kept } = await consolidation(old);
    expect(kept.map((one: { step: string; model: string }) => [one.step, one.model])).toEqual([
      ['extract', 'gpt-4.1-mini'],
      ['extract:late', 'gpt-4.1-mini (batch)'],
    ]);
  });

  it('of which all is taken back cancels its batch', async () => {
    await send('fay', 'fay lives in Oslo');
    await submitted();
    await send('fay', 'fay lives in Bergen', 'live');
    await expect.poll(() => made('cancelled'), WITHIN).toBe(1);
    expect(await quiet(setup.console)).toMatchObject({ parked: 0, gap: 0 });
    await cleaned();
  });

  it('is asked once, though the process dies while it waits', async () => {
    const asked = askedSince();
    const [batches, bill] = [model.batches.made.length, model.batches.bill.length];
    await send('gil', 'gil lives in Oslo');
    await submitted();
    await setup.crash();
    await model.batches.finish();
    await setup.start();
    await cleaned(AFTER_A_DEATH);
    expect(await quiet(setup.console)).toMatchObject({ parked: 0, gap: 0 });
    expect(await found(setup.search, 'gil', 'where does gil live')).toEqual(['gil lives in Oslo']);
    expect(asked()).toEqual([]);
    expect([model.batches.made.length - batches, model.batches.bill.length - bill]).toEqual([1, 1]);
  });

  it('is asked as all else where the batch fails', async () => {
    const asked = askedSince();
    const id = await send('hal', 'hal lives in Oslo');
    await submitted();
    model.batches.fail('expired');
    await expect.poll(async () => (await batch(id)).state, WITHIN).toBe('consolidated');
    expect(asked()).toEqual(['extract_facts']);
    expect(await batch(id)).toMatchObject({ attempts: 0 });
    await cleaned();
  });

  it('of somebody who is erased is cancelled, and its file deleted', async () => {
    const cancelled = made('cancelled');
    await Promise.all([send('ida', 'ida lives in Oslo'), send('jon', 'jon lives in Rome')]);
    await submitted();
    const { body } = await call('DELETE', `${setup.console}/v1/users/ida`);
    await cleaned();
    expect(made('cancelled')).toBe(cancelled + 1);
    await expect
      .poll(async () => (await get(`${setup.console}${body.status_url}`)).body, WITHIN)
      .toMatchObject({ state: 'erased', remains: [] });
    expect(await quiet(setup.console)).toMatchObject({ erased: 1, parked: 0, gap: 0 });
    expect(await found(setup.search, 'jon', 'where does jon live')).toEqual(['jon lives in Rome']);
  });
});
