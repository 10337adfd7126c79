import { echoExtract, engineBench, fakeChat, inputOf, type PostOptions, type Script } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { EXTRACT } from '../../models/prompts/consolidation.ts';
import { DEFAULT_SETTINGS, type TenantSettings } from '../../settings.ts';
import { DEFAULT_TENANT, type JsonObject } from '../../words.ts';

describe('what a tenant and a batch say about remembering', () => {
  it.each([
    ['nobody anything', {}, {}, null],
    ['the tenant', { instructions: 'Be brief.' }, {}, 'Be brief.'],
    ['the batch', {}, { instructions: 'Only names.' }, 'Only names.'],
    [
      'both: the batch comes on top',
      { instructions: 'Be brief.' },
      { instructions: 'Only names.' },
      'Be brief.\nOnly names.',
    ],
    ['both what to remember', { includes: 'food' }, { includes: 'drinks' }, 'Remember only: food; drinks'],
    ['both what not to', { excludes: 'health' }, { excludes: 'money' }, 'Never remember: health; money'],
    [
      'all there is',
      { instructions: 'A', includes: 'B', excludes: 'C' },
      { instructions: 'D' },
      'A\nD\nRemember only: B\nNever remember: C',
    ],
  ])('reaches the model where %s', async (...[, chosen, settings, instructions]) => {
    const { context } = await extracted(chosen, { settings });
    expect(context.instructions).toBe(instructions);
  });

  it('own categories reach the model; without them the prompt names those of the product', async () => {
    expect((await extracted({}, {})).context).not.toHaveProperty('categories');
    const { context, call } = await extracted({ categories: ['pets', 'misc'] }, {});
    expect(context.categories).toEqual(['pets', 'misc']);
    expect(call.system).toBe(EXTRACT.system);
  });

  it('categories of a batch take the place of the tenant’s, for the model and for what it answers', async () => {
    const settings = { categories: ['Sport', 'misc'] };
    const script: Script = () => ({ facts: [{ text: 'User likes figs', category: 'sport' }] });
    const { context, plan } = await extracted({ categories: ['pets'] }, { settings }, script);
    expect(context.categories).toEqual(['Sport', 'misc']);
    expect(plan.facts.map(({ category }) => category)).toEqual(['Sport']);
  });

  it.each([
    ['one of the product', null, 'food', 'food'],
    ['another spelling of one', null, ' User Preferences', 'user_preferences'],
    ['an unknown one', null, 'astrology', 'misc'],
    ['none', null, null, null],
    ['one of its own', ['Pets', 'Work'], 'pets', 'Pets'],
    ['one it does not have, where there is misc', ['Pets', 'misc'], 'food', 'misc'],
    ['one it does not have', ['Pets', 'Work'], 'food', null],
  ])('a fact given %s is sorted accordingly', async (...[, categories, given, category]) => {
    const script: Script = () => ({ facts: [{ text: 'User likes figs', category: given }] });
    const { plan } = await extracted({ categories }, {}, script);
    expect(plan.facts.map((fact) => fact.category)).toEqual([category]);
  });
});

describe("a tenant's own prompt", () => {
  it.each([
    ['its own categories', ['pets', 'misc'], 'Sort into pets, misc.'],
    ['those of the product', null, 'Sort into personal_details, family'],
  ])('is filled in with %s, known by its first line, and told in the plan', async (...[, categories, filled]) => {
    const prompts = { extract: 'Sort into {{categories}}.', decide: null };
    const { call, plan, hash } = await extracted({ prompts, categories }, {});
    expect(call.system.split('\n')[0]).toBe('extract_facts');
    expect(call.system).toContain(filled);
    expect(plan.prompts).toEqual([{ name: 'extract_facts', version: 'custom', hash: hash(call.system) }]);
  });

  it('asks again where it was changed in between', async () => {
    const [one, other] = ['A {{categories}}', 'B {{categories}}'].map((extract) => ({ extract, decide: null }));
    const first = await extracted({ prompts: one ?? DEFAULT_SETTINGS.prompts }, {});
    const second = await extracted({ prompts: other ?? DEFAULT_SETTINGS.prompts }, {});
    expect(first.plan.prompts[0]?.hash).not.toBe(second.plan.prompts[0]?.hash);
  });
});

/** One batch with one message, and what the model was asked about it. */
async function extracted(chosen: Partial<TenantSettings>, options: PostOptions, script: Script = echoExtract) {
  const chat = fakeChat({ extract_facts: script });
  const bench = await engineBench({ chat });
  await bench.deps.ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, ...chosen });
  const batch = await bench.post(['I like figs'], options);
  await bench.run();
  const [call] = chat.calls;
  if (call === undefined) throw new Error('expected a call');
  const context = inputOf(call).context as JsonObject;
  return { call, context, plan: await bench.plan(batch), hash: bench.tools.hash };
}
