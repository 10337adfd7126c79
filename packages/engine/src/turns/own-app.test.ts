import {
  echoExtract,
  engineBench,
  expectTrue,
  fakeChat,
  keyedDecide,
  NEVER,
  newBatch,
  newMessage,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { preview } from '../consolidation/rehearse.ts';
import { newest } from '../memories/evolve.ts';
import { inApp as knownInApp } from '../memories/in-app.ts';
import { memoryWriter } from '../memories/write.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { DEFAULT_TENANT } from '../words.ts';

const keyOf = (text: string): string => text.split(':')[0] ?? text;
const inApp = (appId: string) => ({ scope: { appId } });
const own = (appId: string) => ({ ...inApp(appId), settings: { ownAppOnly: true } as const });

/** Ann has said one thing in each of two apps, and shopping has one more memory that the index does not have yet. */
async function twoApps() {
  const chat = fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) });
  const bench = await engineBench({ chat });
  await bench.post(['sister: Eve'], inApp('health'));
  await bench.run();
  await bench.post(['pet: a cat'], inApp('shopping'));
  await bench.run();
  return { bench, chat };
}

describe('a batch posted with a key for one app', () => {
  it('changes what its own app was told, and neither sees nor changes what others were', async () => {
    const { bench } = await twoApps();
    await bench.post(['sister: Zoe', 'pet: a dog'], own('shopping'));
    await bench.run();
    expect(await bench.live()).toEqual(['pet: a dog', 'sister: Eve', 'sister: Zoe']);
    const seen = (await bench.deps.ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null })).results;
    const plan = await bench.deps.ledger.thoughts.plan(seen[0]?.id ?? '');
    expect(plan?.candidates.map(({ text }) => text)).toEqual(['pet: a cat']);
    await expectTrue(bench.deps.ledger);
  });

  it('does not see what the index does not have yet of another app', async () => {
    const { bench } = await twoApps();
    const health = { userId: 'ann', agentId: null, runId: null, appId: 'health' };
    const rest = { category: null, metadata: {}, immutable: false, expiresAt: null, validFrom: null };
    await memoryWriter(bench.deps).add(DEFAULT_TENANT, { ...rest, scope: health, text: 'allergy: peanuts' });
    await bench.post(['allergy: pollen'], own('shopping'));
    await bench.run();
    expect(await bench.live()).toEqual(['allergy: peanuts', 'allergy: pollen', 'pet: a cat', 'sister: Eve']);
  });

  it('is not kept from saying what was deleted in another app later', async () => {
    const { bench } = await twoApps();
    const said = bench.tools.now();
    bench.tools.advance(1_000);
    const eve = (await bench.memories()).find(({ scope }) => scope.appId === 'health');
    await memoryWriter(bench.deps).remove(DEFAULT_TENANT, eve?.id ?? '');
    await bench.post([{ content: 'sister: Eve', at: said }], own('shopping'));
    await bench.run();
    expect(await bench.live()).toEqual(['pet: a cat', 'sister: Eve']);
  });

  it('does not join what waits for a person in another app', async () => {
    const { bench } = await twoApps();
    const { ledger } = bench.deps;
    await ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, review: ['ADD'] });
    await bench.post(['allergy: nuts'], inApp('health'));
    await bench.run();
    await bench.post(['allergy: nuts'], own('shopping'));
    await bench.run();
    const { results } = await ledger.reviews.list(DEFAULT_TENANT, { state: 'pending' }, { limit: 9, cursor: null });
    expect(results.map(({ scope, operation }) => [scope.appId, operation.after])).toEqual([
      ['shopping', 'allergy: nuts'],
      ['health', 'allergy: nuts'],
    ]);
    expect(new Set(results.map(({ operation }) => operation.memoryId)).size).toBe(2);
  });

  it('is previewed as it is consolidated', async () => {
    const { bench } = await twoApps();
    const batch = newBatch(bench.tools, {
      scope: { userId: 'ann', agentId: null, runId: null, appId: 'shopping' },
      settings: { ...newBatch(bench.tools).settings, ownAppOnly: true },
      messages: [newMessage(bench.tools, { content: 'sister: Zoe' })],
    });
    const plan = await preview(bench.deps, { batch, tried: {} }, NEVER);
    expect(plan.candidates.filter(({ text }) => text === 'sister: Eve')).toEqual([]);
    expect(plan.operations).toMatchObject([{ event: 'ADD', before: null, after: 'sister: Zoe' }]);
  });

  it('has no part in the graph of all apps', async () => {
    const { bench } = await twoApps();
    await bench.post(['likes: tea'], { ...own('shopping'), settings: { ownAppOnly: true, graph: true } });
    await bench.run();
    const { results } = await bench.deps.ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null });
    expect(await bench.deps.ledger.thoughts.plan(results[0]?.id ?? '')).not.toHaveProperty('graph');
  });
});

/** Ann has said the same in two apps, and in one of them something else since. */
async function sharedMemory() {
  const { bench } = await twoApps();
  await bench.post(['city: Oslo'], inApp('shopping'));
  await bench.run();
  bench.tools.advance(1_000);
  await bench.post(['city: Oslo'], inApp('health'));
  await bench.run();
  bench.tools.advance(1_000);
  await bench.post(['city: Bergen'], inApp('health'));
  await bench.run();
  bench.tools.advance(1_000);
  return bench;
}

describe('of a memory that several apps were told, a batch posted with a key for one of them', () => {
  it('sees what its own app was told last, and changes it for that app', async () => {
    const bench = await sharedMemory();
    await bench.post(['city: Rome'], own('shopping'));
    await bench.run();
    const { results } = await bench.deps.ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null });
    const plan = await bench.deps.ledger.thoughts.plan(results[0]?.id ?? '');
    expect(plan?.operations).toMatchObject([{ event: 'UPDATE', before: 'city: Oslo', after: 'city: Rome' }]);
    expect(JSON.stringify(plan)).not.toMatch(/Bergen/);
    const memory = (await bench.memories()).find(({ versions }) => versions.some(({ text }) => text === 'city: Rome'));
    const as = (app: string) => {
      const known = memory === undefined ? null : knownInApp(memory, app);
      return known && newest(known).text;
    };
    expect([as('shopping'), as('health')]).toEqual(['city: Rome', 'city: Bergen']);
    await expectTrue(bench.deps.ledger);
  });

  it('does not delete what the others were told', async () => {
    const bench = await sharedMemory();
    const writer = memoryWriter(bench.deps);
    const scope = { userId: 'ann', agentId: null, runId: null, appId: 'shopping' };
    await writer.removeAll(DEFAULT_TENANT, scope, { ownApp: true });
    expect(await bench.live()).toEqual(['city: Bergen', 'sister: Eve']);
    await writer.removeAll(DEFAULT_TENANT, scope);
    expect(await bench.live()).toEqual(['sister: Eve']);
  });
});

describe('a batch posted with a key for all apps', () => {
  it('goes on deciding over what every app was told', async () => {
    const { bench } = await twoApps();
    await bench.post(['sister: Zoe'], inApp('shopping'));
    await bench.run();
    expect(await bench.live()).toEqual(['pet: a cat', 'sister: Zoe']);
  });
});
