import { answers, echoExtractor, keyedDecider, type Script, startModelServer } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, get, post, quiet, said } from './client.ts';
import { fourProcesses, type Setup } from './setups.ts';

const USERS = 20;
const REFUSING_MS = 3_000;

let setup: Setup;
let model: Awaited<ReturnType<typeof startModelServer>>;
beforeAll(async () => {
  model = await startModelServer();
  setup = await fourProcesses({
    OPENAI_BASE_URL: model.baseUrl,
    SLOWWAVE_EMBEDDING_MODEL: 'builtin',
    // One try only: a single refusal that counted would park its batch.
    SLOWWAVE_MAX_ATTEMPTS: '1',
    SLOWWAVE_CONCURRENCY: '2',
  });
});
afterAll(async () => {
  await setup.close();
  await model.close();
});

const well = answers({ extract_facts: echoExtractor(), decide_operations: keyedDecider((text) => text) });

it('a provider that refuses for a while costs time and no tries', async () => {
  let firstAt: number | null = null;
  const script: Script = (asked) => {
    firstAt ??= Date.now();
    return Date.now() < firstAt + REFUSING_MS ? { status: 429, headers: { 'retry-after': '1' } } : well(asked);
  };
  model.setScript(script);
  for (let i = 0; i < USERS; i += 1) await post(`${setup.ingest}/v1/batches`, said(`user-${i}`, `home is ${i}`));
  expect(await quiet(setup.search)).toMatchObject({ accepted: USERS, consolidated: USERS, parked: 0 });
  const { body } = await get(`${setup.ingest}/v1/batches?limit=100`);
  for (const batch of body.results) expect(batch).toMatchObject({ attempts: 0, error: null });
  const refused = model.calls.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length, 'all workers stayed away while they were told to').toBeLessThan(USERS);
});

it('over budget batches wait and say why, and no model is asked', async () => {
  model.setScript(well);
  const { ingest, search, console } = setup;
  const before = { batches: (await get(`${search}/v1/stats`)).body.batches, calls: model.calls.length };
  const put = await call('PUT', `${console}/v1/settings`, { body: { budgets: { tokens_per_day: 0 } } });
  expect(put.body.budgets).toMatchObject({ tokens_per_day: 0, cost_per_day: null });
  const accepted = await post(`${ingest}/v1/batches`, { ...said('ana', 'home is Oslo'), flush: true });
  await expect
    .poll(async () => (await get(`${ingest}${accepted.body.status_url}`)).body)
    .toMatchObject({ state: 'consolidating', attempts: 0, error: { code: 'budget_exhausted' } });
  expect(model.calls).toHaveLength(before.calls);
  const { body } = await get(`${search}/v1/stats`);
  expect(body.batches).toMatchObject({ accepted: before.batches.accepted + 1, consolidating: 1, parked: 0, gap: 0 });
});
