import { adoptIndex, sweepOutbox } from '@slowwave/engine';
import { NEVER } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { indexState } from './search.ts';
import { searchBench } from './testing/bench.ts';

/** So long that no search goes on with an old answer about the index. */
const A_WHILE_MS = 10_000;

async function bench() {
  let state = async (): Promise<string | null> => null;
  const { engine, search, remember } = await searchBench({ indexState: () => state() });
  const { deps, tools } = engine;
  await adoptIndex(deps);
  state = indexState({ ...deps, messagesInIndex: deps.settings.messagesInIndex });
  /** What a search says of the index, some time later. */
  const degraded = async (): Promise<string | undefined> => {
    tools.advance(A_WHILE_MS);
    return (await search({ query: 'where does she live', user_id: 'ann' })).json().degraded?.[0];
  };
  return { deps, remember, degraded };
}

test('an index of this ledger is believed, also while it is told of changes', async () => {
  const { deps, remember, degraded } = await bench();
  expect(await degraded()).toBeUndefined();
  await remember('Ann lives in Berlin');
  expect(await degraded()).toBeUndefined();
  expect(await deps.ledger.outbox.refilling()).toBe(false);
});

test('searches are degraded from the loss of the index until all of it is there again', async () => {
  const { deps, remember, degraded } = await bench();
  // More than one go of the sweep.
  for (let i = 0; i < 150; i += 1) await remember(`Ann lives in house ${i}`);
  await deps.index.clear();
  expect(await degraded()).toContain('being built');
  await adoptIndex(deps);
  expect(await degraded()).toContain('being rebuilt');
  await sweepOutbox(deps, NEVER);
  expect(await degraded()).toContain('being rebuilt');
  await sweepOutbox(deps, NEVER);
  expect(await degraded()).toBeUndefined();
});

test('an index of another ledger or another embedding model is not believed', async () => {
  const { deps, degraded } = await bench();
  await deps.index.clear();
  await deps.index.stamp({ ledgerId: 'led_other', fingerprint: deps.embedder.fingerprint });
  expect(await degraded()).toContain('another ledger');
  await deps.index.clear();
  await deps.index.stamp({ ledgerId: deps.ledger.id, fingerprint: 'other' });
  expect(await degraded()).toContain('another embedding model');
});

test('a search goes on with the last answer while a new one is asked for', async () => {
  const { engine } = await searchBench();
  const { deps, tools } = engine;
  await adoptIndex(deps);
  const state = indexState({ ...deps, messagesInIndex: 'hybrid' });
  expect(await state()).toBeNull();
  await deps.index.clear();
  tools.advance(1_000);
  expect(await state()).toBeNull();
  await new Promise(setImmediate);
  expect(await state()).toContain('being built');
});

test('a ledger that is away leaves open whether all is found, and stops no search', async () => {
  const { engine } = await searchBench();
  await adoptIndex(engine.deps);
  const away = { refilling: () => Promise.reject(new Error('away')) };
  const ledger = { id: engine.deps.ledger.id, outbox: { ...engine.deps.ledger.outbox, ...away } };
  expect(await indexState({ ...engine.deps, ledger, messagesInIndex: 'hybrid' })()).toContain(
    'the ledger is not available',
  );
});
