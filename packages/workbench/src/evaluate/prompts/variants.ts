import { EXTRACT, EXTRACT_PLAIN, type Prompt } from '@slowwave/engine';

export interface Variant {
  readonly name: string;
  readonly prompt: Prompt;
}

/** What introduces the examples, and one of them: each on a line of its own. */
const INTRODUCTION = /^Examples?\b/;
const EXAMPLE = /^\{.*\} gives \{.*\}$/;

/** The prompt that finds facts, with fewer examples and as it is. */
export const VARIANTS: readonly Variant[] = [
  { name: 'no example', prompt: EXTRACT_PLAIN },
  { name: 'one example', prompt: withExamples(EXTRACT, 1) },
  { name: 'as it is', prompt: EXTRACT },
];

/** A prompt with the first of its examples alone. */
export function withExamples(prompt: Prompt, count: number): Prompt {
  const lines = prompt.system.split('\n');
  const kept = new Set(lines.filter((line) => EXAMPLE.test(line)).slice(0, count));
  const system = lines.filter((line) => (INTRODUCTION.test(line) ? count > 0 : !EXAMPLE.test(line) || kept.has(line)));
  return { ...prompt, system: system.join('\n') };
}
