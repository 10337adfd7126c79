import { describe, expect, it } from 'vitest';
import { DECIDE } from './consolidation.ts';
import { customPrompt, promptMistake } from './prompt.ts';

describe('a prompt that a tenant wrote', () => {
  it('takes the place of the product’s text under the same name, so that the call stays known', () => {
    const prompt = customPrompt(DECIDE, 'Decide as I say.');
    expect(prompt).toMatchObject({ name: DECIDE.name, version: 'custom', schema: DECIDE.schema });
    expect(prompt.system).toBe('decide_operations\n\nDecide as I say.');
  });

  it('may begin with the name itself', () => {
    expect(customPrompt(DECIDE, 'decide_operations\nAs I say.').system).toBe('decide_operations\nAs I say.');
  });

  it('has its placeholders filled in, and nothing else', () => {
    const { system } = customPrompt(DECIDE, 'One of {{categories}}, {{ categories }}. {"a": {"b": 1}} $&', {
      categories: '$1, food',
    });
    expect(system).toContain('One of $1, food, $1, food. {"a": {"b": 1}} $&');
  });
});

describe('the check of such a prompt', () => {
  it.each([
    ['extract', 'Sort facts into {{categories}}.'],
    ['extract', 'Sort facts into {{ categories }}. Answer {"facts":[{"text":""}]}'],
    ['decide', 'Decide.'],
  ] as const)('takes for %s: %s', (call, text) => {
    expect(promptMistake(call, text)).toBeNull();
  });

  it.each([
    ['extract', 'Find facts.', 'expected the placeholder {{categories}} in it'],
    ['extract', 'Find {{categories}} in {{messages}}', 'expected {{categories}}, got {{messages}}'],
    ['decide', 'Decide on {{categories}}', 'expected no placeholders, got {{categories}}'],
  ] as const)('tells for %s what is wrong with: %s', (call, text, told) => {
    expect(promptMistake(call, text)).toContain(told);
  });
});
