import { DEFAULT_TENANT } from '@slowwave/engine';
import { added, home } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { searchBench } from './testing/bench.ts';

const TENANT = DEFAULT_TENANT;
const CONCLUDED = 'Ann is interested in ramen';

test('what nobody said is marked wherever it is shown, and found nowhere once its evidence goes', async () => {
  const { app, engine, writer } = await searchBench();
  for (const text of ['Ann cooked ramen for friends', 'Ann bought a ramen bowl']) {
    await engine.post([text]);
    await engine.run();
  }
  const evidence = await engine.memories();
  const [first, second] = evidence;
  if (first === undefined || second === undefined) throw new Error('expected two memories');
  const from = evidence.map(({ id }) => ({ memoryId: id, version: 1 }));
  const change = added(engine.tools, home(first.lane), {
    text: CONCLUDED,
    actor: 'sleep',
    details: { trust: 'inferred', concluded: { certainty: 'low', from } },
  });
  const { id } = change.memory;
  await engine.deps.ledger.memories.write(TENANT, { changes: [change], tombstones: [], now: engine.tools.now() });
  // Whoever changes a memory brings all of its lane into the index.
  await writer.change(TENANT, second.id, { metadata: { seen: true } });

  const ask = async (url: string, payload: object) => (await app.inject({ method: 'POST', url, payload })).json();
  const found = async () => (await ask('/v1/search', { user_id: 'ann', query: 'ramen', cut: 'none' })).results;
  const told = async () => (await ask('/v1/context', { user_id: 'ann', query: 'ramen', cut: 'none' })).text;
  const shown = { certainty: 'low', evidence: from.map(({ memoryId }) => ({ memory_id: memoryId, version: 1 })) };
  const hits: readonly { id: string; conclusion?: object }[] = await found();
  expect(hits.find((hit) => hit.id === id)).toMatchObject({ memory: CONCLUDED, trust: 'inferred', conclusion: shown });
  expect(hits.filter((hit) => hit.id !== id).every((hit) => hit.conclusion === undefined)).toBe(true);
  expect(await told()).toContain(`(inferred, certainty low) ${CONCLUDED}`);
  expect((await app.inject(`/v1/memories/${id}`)).json()).toMatchObject({ conclusion: shown });

  await writer.remove(TENANT, first.id);
  expect(((await found()) as typeof hits).map((hit) => hit.id)).toEqual([second.id]);
  expect(await told()).not.toContain(CONCLUDED);
  expect((await app.inject('/v1/memories?user_id=ann')).json().results).toHaveLength(1);
  expect(
    (await app.inject(`/v1/memories?user_id=ann&as_of=${new Date(engine.tools.now()).toISOString()}`)).body,
  ).not.toContain(CONCLUDED);
});
