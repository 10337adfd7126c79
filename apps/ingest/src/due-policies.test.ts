import { DEFAULT_SETTINGS, DEFAULT_TENANT, type Ledger } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { duePolicies } from './batches.ts';
import { ingestBench } from './testing/bench.ts';

const SECOND = 1_000;
const hello = { user_id: 'ann', messages: [{ role: 'user', content: 'I moved to Berlin.' }] };

test('batches are due when the tenant says, a second after it said so at the latest', async () => {
  const { post, nudged, engine } = await ingestBench();
  const { ledger } = engine.deps;
  await post({ ...hello, user_id: 'before' });
  await ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, due: { idleMs: 7 } });
  engine.tools.advance(SECOND);
  await post({ ...hello, user_id: 'after' });
  const waits = nudged.map(({ dueAt }) => dueAt - engine.tools.now());
  expect(waits).toEqual([engine.deps.settings.due.idleMs - SECOND, 7]);
});

test('many batches at once read the settings once, and a failed read is not kept', async () => {
  const { engine } = await ingestBench();
  const { ledger, tools, settings } = engine.deps;
  let reads = 0;
  let away = true;
  const get: Ledger['settings']['get'] = async () => {
    reads += 1;
    if (away) throw new Error('the ledger is away');
    return DEFAULT_SETTINGS;
  };
  const policyOf = duePolicies({
    ledger: { ...ledger, settings: { ...ledger.settings, get } },
    tools,
    due: settings.due,
  });
  await expect(policyOf(DEFAULT_TENANT)).rejects.toThrow('away');
  away = false;
  const policies = await Promise.all([1, 2, 3].map(() => policyOf(DEFAULT_TENANT)));
  expect(policies).toEqual([1, 2, 3].map(() => ({ due: settings.due, personalData: 'off', timezone: null })));
  expect(reads).toBe(2);
});
