import { echoExtract, engineBench, fakeChat, keyedDecide, type PostOptions } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { DECIDE } from '../models/prompts/decide.ts';
import { DEFAULT_SETTINGS, type TenantSettings } from '../settings.ts';
import { DEFAULT_TENANT } from '../words.ts';

const keyOf = (text: string): string => text.split(':')[0] ?? text;

describe('what a tenant says about deciding', () => {
  it('reaches the model, before what the batch says', async () => {
    const { call } = await decided({ decideInstructions: 'Keep both.' }, { settings: { instructions: 'Be brief.' } });
    expect(call?.user).toContain('"instructions":"Keep both.\\nBe brief."');
    expect(call?.system).toBe(DECIDE.system);
  });

  it('is left out where nobody says anything', async () => {
    const { call } = await decided({}, {});
    expect(call?.user).not.toContain('instructions');
  });

  it('may be the whole prompt: the plan tells which text was used', async () => {
    const prompts = { extract: null, decide: 'Decide as I say.' };
    const { call, plan, hash } = await decided({ prompts }, {});
    expect(call?.system).toBe('decide_operations\n\nDecide as I say.');
    const used = { name: 'decide_operations', version: 'custom', hash: hash(call?.system ?? '') };
    expect(plan?.prompts).toContainEqual(used);
  });
});

/** Two batches about one thing, so that the second is decided on. */
async function decided(chosen: Partial<TenantSettings>, options: PostOptions) {
  const chat = fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide(keyOf) });
  const bench = await engineBench({ chat });
  const { ledger, tools } = bench.deps;
  await ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, ...chosen });
  for (const text of ['lives: in Oslo', 'lives: in Bergen']) {
    await bench.post([text], options);
    await bench.run();
  }
  const { results } = await ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 1, cursor: null });
  const plan = await ledger.thoughts.plan(results[0]?.id ?? '');
  return { plan, hash: tools.hash, call: chat.calls.find((asked) => asked.name === 'decide_operations') };
}
