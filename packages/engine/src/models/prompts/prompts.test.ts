import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { usageStepOf } from '../../ports/ledger/overview.ts';
import type { Prompt } from './prompt.ts';

const FILES = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
const MODULES: Record<string, unknown>[] = await Promise.all(FILES.map((name) => import(`./${name}`)));
const PROMPTS = MODULES.flatMap((module) => Object.values(module)).filter(isPrompt);

function isPrompt(value: unknown): value is Prompt {
  return typeof value === 'object' && value !== null && 'system' in value && 'schema' in value;
}

test('every prompt has a name of its own', () => {
  const names = PROMPTS.map(({ name }) => name);
  expect(names.length).toBeGreaterThanOrEqual(FILES.length - 1); // one file says what a prompt is
  expect(new Set(names).size).toBe(names.length);
});

test.each(PROMPTS)(
  '$name begins with its name, by which servers and tests know a call',
  ({ name, system, version }) => {
    expect(system.split('\n')[0]).toBe(name);
    expect(version).not.toBe('');
  },
);

test.each(PROMPTS)('$name is counted and paid as a step of its own kind', ({ name }) => {
  expect(usageStepOf(name), 'add it to STEP_OF_PROMPT in ports/ledger/overview.ts').not.toBe('other');
});

test.each(PROMPTS)(
  '$name asks for an object all of whose keys are required, as structured output wants it',
  (prompt) => {
    const { type, properties, required, additionalProperties } = prompt.schema;
    expect([type, additionalProperties]).toEqual(['object', false]);
    expect(required).toEqual(Object.keys(properties as object));
  },
);

test.each(PROMPTS)('$name calls what it is given data or material, not instructions', ({ system }) => {
  expect(system).toMatch(/\bdata\b|\bmaterial\b|never (?:an )?instruction/i);
});

test.each(['extract_facts', 'decide_operations', 'extract_graph', 'decide_graph'])(
  '%s has three examples or more, one of them in another language',
  (name) => {
    const examples = PROMPTS.find((prompt) => prompt.name === name)?.system.match(/^\{.*\} gives \{.*\}$/gmu) ?? [];
    expect(examples.length).toBeGreaterThanOrEqual(3);
    expect(examples.some((example) => /\b(?:Nutzer|El usuario)\b/u.test(example))).toBe(true);
    for (const example of examples) {
      for (const side of example.split(' gives ')) expect(() => JSON.parse(side)).not.toThrow();
    }
  },
);
