import type { Prompt } from './prompt.ts';

/** The calls whose prompt a tenant may write itself. */
export type CustomCall = 'extract' | 'decide';

/** What each of these prompts must contain, to be filled in at each call. What else varies is in the call's input. */
const PLACEHOLDERS: Readonly<Record<CustomCall, readonly string[]>> = { extract: ['categories'], decide: [] };

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/gu;

/** What is wrong with a prompt a tenant wrote, and what to do; null when it can be used. */
export function promptMistake(call: CustomCall, text: string): string | null {
  const needed = PLACEHOLDERS[call];
  const named = [...text.matchAll(PLACEHOLDER)].map(([, name]) => name ?? '');
  const missing = needed.find((name) => !named.includes(name));
  if (missing !== undefined) return `expected the placeholder {{${missing}}} in it, got none; put it where it belongs`;
  const unknown = named.find((name) => !needed.includes(name));
  if (unknown === undefined) return null;
  const known = needed.length === 0 ? 'no placeholders' : needed.map((name) => `{{${name}}}`).join(', ');
  return `expected ${known}, got {{${unknown}}}, which nothing fills in; remove it`;
}

/** A tenant's text in place of the product's, with the same name and answer. Servers and tests know a call by its first line. */
export function customPrompt(base: Prompt, text: string, values: Readonly<Record<string, string>> = {}): Prompt {
  const filled = text.replaceAll(PLACEHOLDER, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  );
  const [first = ''] = filled.split('\n', 1);
  const system = first.trim() === base.name ? filled : `${base.name}\n\n${filled}`;
  return { ...base, version: 'custom', system };
}
