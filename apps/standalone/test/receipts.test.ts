import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, done, get, post, quiet, said } from './client.ts';
import { fourProcesses, type Setup, standalone } from './setups.ts';

const WITHIN = { timeout: 60_000, interval: 50 };
const QUESTION = { user_id: 'ann', query: 'Where do I live?' };

let setup: Setup;
beforeAll(async () => {
  setup = await fourProcesses({ SLOWWAVE_ALLOW_PRIVATE_URLS: '127.0.0.1' });
});
afterAll(() => setup.close());

it('all answers have receipts, readable a moment later, unless they are off', async () => {
  const off = await standalone({ SLOWWAVE_RECEIPT_DAYS: '0' });
  const ids = async ({ console, search }: Setup): Promise<(string | null)[]> => {
    await done(post(`${console}/v1/memories`, { user_id: 'ann', memory: 'Lives in Oslo' }));
    const paths = ['/v1/search', '/v1/context', '/v1/recall'];
    const answers = await Promise.all(paths.map((path) => post(`${search}${path}`, QUESTION)));
    return answers.map(({ body }) => body.receipt_id);
  };
  try {
    const kept = await ids(setup);
    const statuses = () => Promise.all(kept.map(async (id) => (await get(`${setup.search}/v1/receipts/${id}`)).status));
    await expect.poll(statuses, WITHIN).toEqual([200, 200, 200]);
    expect((await get(`${setup.search}/metrics`)).body).toContain('slowwave_receipts_total{outcome="written"} 3');
    expect(await ids(off)).toEqual([null, null, null]);
  } finally {
    await off.close();
  }
});

it('what an answer told is found from every process, also after a stop, and who was told hears of a correction', async () => {
  await done(post(`${setup.ingest}/v1/batches`, { ...said('bob', 'I live in Oslo.'), flush: true }));
  await quiet(setup.search);
  // Nobody listens there: the deliveries tell what would be sent.
  const hook = { url: 'http://127.0.0.1:1/', events: ['memory.retracted'] };
  const { id: webhook } = (await post(`${setup.console}/v1/webhooks`, hook)).body;
  const { results, receipt_id } = (await post(`${setup.search}/v1/search`, { ...QUESTION, user_id: 'bob' })).body;
  await setup.stop();
  await setup.start();
  const receipt = () => get(`${setup.search}/v1/receipts/${receipt_id}`);
  const before = (await receipt()).body;
  expect(before).toMatchObject({ route: 'search', question: QUESTION.query, position: 1 });
  expect(before.told).toMatchObject([{ id: results[0].id, memory: results[0].memory, current: true }]);
  const body = { memory: 'Lives in Bergen' };
  await done(call('PATCH', `${setup.console}/v1/memories/${results[0].id}`, { body }));
  const deliveries = await get(`${setup.console}/v1/webhooks/${webhook}/deliveries`);
  expect(deliveries.body.results.map((one: { body: { data: object } }) => one.body.data)).toMatchObject([
    { memory_id: results[0].id, why: 'corrected', receipt_ids: [receipt_id], more: false },
  ]);
  expect((await receipt()).body.told).toMatchObject([{ memory: results[0].memory, version: 1, current: false }]);
  await done(call('DELETE', `${setup.console}/v1/memories/${results[0].id}`));
  expect((await receipt()).body).toMatchObject({ question: null, told: [{ id: results[0].id, forgotten: true }] });
});
