import { DEFAULT_SETTINGS, DEFAULT_TENANT, type PersonalPolicy } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { ingestBench } from './testing/bench.ts';

const body = { user_id: 'ann', messages: [{ role: 'user', content: 'My mail is ann@example.com' }], flush: true };

async function posted(personalData: PersonalPolicy, mode = 'decide') {
  const bench = await ingestBench();
  const { ledger } = bench.engine.deps;
  await ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, personalData });
  const answer = await bench.post({ ...body, mode }, { 'idempotency-key': 'once' });
  expect(answer.statusCode).toBe(202);
  await bench.engine.run();
  return { ...bench, ledger, id: answer.json().batch_id };
}

test.each(['decide', 'verbatim'])('what is masked is nowhere, in mode %s', async (mode) => {
  const { engine } = await posted('mask', mode);
  expect(await engine.live()).toEqual(['My mail is [email]']);
  expect(JSON.stringify(await engine.memories())).not.toContain('ann@example');
});

test('what is dropped leaves an empty batch', async () => {
  const { engine, app, id } = await posted('drop');
  expect(await engine.live()).toEqual([]);
  expect((await app.inject(`/v1/batches/${id}`)).json()).toMatchObject({ state: 'empty', messages: 1 });
});

test('a repeat is one, also when the policy has changed since', async () => {
  const { post, ledger, engine, id } = await posted('mask');
  await ledger.settings.put(DEFAULT_TENANT, DEFAULT_SETTINGS);
  engine.tools.advance(2_000);
  const again = await post({ ...body, mode: 'decide' }, { 'idempotency-key': 'once' });
  expect(again.statusCode).toBe(200);
  expect(again.json().batch_id).toBe(id);
});
