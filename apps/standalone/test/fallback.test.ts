import { answers, echoExtractor, freePort, keyedDecider, type ModelServer, startModelServer } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, found, get, post, quiet, said } from './client.ts';
import { type Setup, standalone } from './setups.ts';

const WITHIN = { timeout: 60_000, interval: 500 };

const script = answers({
  extract_facts: echoExtractor(),
  decide_operations: keyedDecider((text) => text.split(' lives')[0] ?? null),
});

let port: number;
let first: ModelServer;
let second: ModelServer;
let setup: Setup;
beforeAll(async () => {
  port = await freePort();
  first = await startModelServer({ script, port });
  second = await startModelServer({ script });
  setup = await standalone({
    OPENAI_BASE_URL: first.baseUrl,
    SLOWWAVE_CHAT_MODEL: 'usual',
    SLOWWAVE_CHAT_TRY: 'off',
    SLOWWAVE_DECIDE_MODEL: 'careful',
    SLOWWAVE_CHAT_FALLBACK: 'spare',
    SLOWWAVE_FALLBACK_BASE_URL: second.baseUrl,
    SLOWWAVE_EMBEDDING_MODEL: 'builtin',
  });
});
afterAll(async () => {
  await setup.close();
  await Promise.all([first, second].map((server) => server.close()));
});

const tell = async (text: string) => {
  const { body } = await post(`${setup.ingest}/v1/batches`, { ...said('ann', text), flush: true });
  expect(await quiet(setup.console)).toMatchObject({ parked: 0, gap: 0 });
  const batch = await get(`${setup.ingest}/v1/batches/${body.batch_id}`);
  return (await get(`${setup.console}/v1/consolidations/${batch.body.consolidation_id}`)).body;
};
const askedOf = (server: ModelServer) => server.calls.map(({ name, request }) => `${request.model}: ${name}`);
const modelOf = (consolidation: { answers: { step: string; model: string }[] }, step: string) =>
  consolidation.answers.find((answer) => answer.step === step)?.model;
const uses = async () =>
  Object.fromEntries(
    (await get(`${setup.console}/v1/models`)).body.results.map((view: { model: string; steps: object[] }) => [
      view.model,
      view.steps,
    ]),
  );

it('each step asks its model, a fallback at another provider while that is away, and then it again', async () => {
  await tell('Ann lives in Rome');
  const before = await tell('Ann lives in Oslo');
  expect(askedOf(first)).toEqual(['usual: extract_facts', 'usual: extract_facts', 'careful: decide_operations']);
  expect(before.plan.models).toMatchObject({ chat: 'usual', decide: 'careful' });
  expect(second.calls).toEqual([]);

  await first.close();
  const during = await tell('Ann lives in Bergen');
  expect(askedOf(second)).toEqual(['spare: extract_facts', 'spare: decide_operations']);
  expect([modelOf(during, 'extract'), modelOf(during, 'decide')]).toEqual(['spare', 'spare']);
  expect(during.plan.models).toMatchObject({ chat: 'usual', decide: 'careful' });
  expect(during.plan.usage.models).toMatchObject([{ model: 'spare', calls: 2 }]);
  expect(await found(setup.search, 'ann', 'where does Ann live')).toEqual(['Ann lives in Bergen']);
  const { usual, spare } = await uses();
  expect(usual).toContainEqual({ step: 'extract', place: 1, asked: false });
  expect(spare).toContainEqual({ step: 'extract', place: 2, asked: true });
  const metrics = String((await call('GET', `${setup.console}/metrics`)).body);
  expect(metrics).toMatch(/slowwave_model_calls_total\{[^}]*model="spare"[^}]*\} [1-9]/);

  first = await startModelServer({ script, port });
  let city = 0;
  await expect
    .poll(async () => {
      city += 1;
      return modelOf(await tell(`Ann lives in City ${city}`), 'extract');
    }, WITHIN)
    .toBe('usual');
  expect((await uses()).usual).toContainEqual({ step: 'extract', place: 1, asked: true });
});
