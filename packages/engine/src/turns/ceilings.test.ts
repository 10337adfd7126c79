import { type BenchOptions, echoExtract, engineBench, fakeChat, NEVER, newBatch } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { preview } from '../consolidation/rehearse.ts';
import { spaceOf } from '../ids.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { DEFAULT_TENANT } from '../words.ts';

const LIMITLESS = { ...DEFAULT_SETTINGS, prices: { scripted: { prompt: 0, completion: 0 } } };
const NONE = { tokensPerDay: null, costPerDay: null };
const LOW = { ...NONE, tokensPerDay: 1 };
const DAY_MS = 86_400_000;

/** A tenant whose own settings limit nothing, and say that its model costs nothing; it has used some tokens today. */
async function used(settings: BenchOptions['settings'] = {}) {
  const chat = fakeChat({ extract_facts: echoExtract });
  const bench = await engineBench({ chat, settings });
  const { ledger } = bench.deps;
  await ledger.settings.put(DEFAULT_TENANT, LIMITLESS);
  await bench.post(['pet: a cat']);
  await bench.run();
  const asked = chat.calls.length;
  const state = async (id: string) => {
    const batch = await ledger.batches.get(DEFAULT_TENANT, id);
    return { state: batch?.state, attempts: batch?.attempts, why: batch?.failure?.message ?? null };
  };
  return { bench, ledger, state, newCalls: () => chat.calls.length - asked };
}

test('what holds for all tenants stops one, whatever its own settings say, and previews as well', async () => {
  const { bench, state, newCalls } = await used({ ceilings: { tokensPerDay: 1, costPerDay: null } });
  const seen: unknown[] = [];
  const id = await bench.post(['town: Oslo']);
  const { release } = bench.deps.ledger.lanes;
  const waited = Promise.withResolvers<void>();
  Object.assign(bench.deps.ledger.lanes, {
    release: async (...given: Parameters<typeof release>) => {
      await release(...given);
      seen.push(await state(id));
      waited.resolve();
    },
  });
  await expect(preview(bench.deps, { batch: newBatch(bench.tools), tried: {} }, NEVER)).rejects.toMatchObject({
    code: 'budget_exhausted',
  });
  expect(newCalls()).toBe(0);
  await bench.run(); // the clock goes on to the next day by itself
  await waited.promise;
  expect(seen[0]).toEqual({
    state: 'consolidating',
    attempts: 0,
    why: expect.stringMatching(
      /the operator's limit for this tenant has been reached: tokens_per_day is 1, and \d+ have been used/,
    ),
  });
  expect(await state(id)).toMatchObject({ state: 'consolidated' });
});

test.each([
  { what: 'a limit of its own that is lower', own: { ...NONE, tokensPerDay: 1 }, all: NONE, goesOn: false },
  { what: 'a limit of its own that is higher', own: { ...NONE, tokensPerDay: 1_000_000 }, all: LOW, goesOn: true },
  { what: 'no limit, where there is one for all', own: NONE, all: LOW, goesOn: true },
  { what: 'nothing of its own', own: null, all: LOW, goesOn: false },
])('$what counts in place of what holds for all', async ({ own, all, goesOn }) => {
  const { bench, ledger, newCalls } = await used({ ceilings: all });
  await ledger.settings.putCeilings(DEFAULT_TENANT, own);
  const asked = preview(bench.deps, { batch: newBatch(bench.tools), tried: {} }, NEVER).then(
    () => null,
    (error: { code: string }) => error.code,
  );
  expect(await asked).toBe(goesOn ? null : 'budget_exhausted');
  expect(newCalls() > 0).toBe(goesOn);
});

test('what it may cost is counted by the prices of the operator, not by its own', async () => {
  const { bench, ledger } = await used({ ceilings: { tokensPerDay: null, costPerDay: 0.000_001 } });
  const acme = { ...newBatch(bench.tools), tenant: 'acme' as typeof DEFAULT_TENANT };
  await ledger.settings.put(acme.tenant, LIMITLESS);
  await preview(bench.deps, { batch: acme, tried: {} }, NEVER);
  await preview(bench.deps, { batch: acme, tried: {} }, NEVER);
  const prices = { scripted: { prompt: 1, completion: 1 } };
  await ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, prices });
  await expect(preview(bench.deps, { batch: acme, tried: {} }, NEVER)).rejects.toThrow('cost_per_day');
  bench.tools.advance(DAY_MS);
  await preview(bench.deps, { batch: acme, tried: {} }, NEVER);
});

test('a what-if may use what its tenant may use now, not what it might when it began', async () => {
  const { bench, ledger } = await used();
  const space = spaceOf({ tenant: DEFAULT_TENANT, replay: 'rpl_1' });
  const batch = { ...newBatch(bench.tools), tenant: space };
  await ledger.settings.put(space, LIMITLESS);
  await preview(bench.deps, { batch, tried: {} }, NEVER);
  await ledger.settings.put(DEFAULT_TENANT, { ...LIMITLESS, budgets: { ...LIMITLESS.budgets, tokensPerDay: 1 } });
  await expect(preview(bench.deps, { batch, tried: {} }, NEVER)).rejects.toThrow(
    'the budget is used up: tokens_per_day is 1',
  );
  await ledger.settings.put(DEFAULT_TENANT, LIMITLESS);
  await preview(bench.deps, { batch, tried: {} }, NEVER);
});
