import { type ChatCall, EngineError, type Json, type JsonObject } from '@slowwave/engine';

/** The JSON object that ends the user message: the first line from which on the rest is one. */
export function inputOf({ name, user }: ChatCall): JsonObject {
  for (const { index } of user.matchAll(/^[ \t]*\{/gmu)) {
    const value = parsed(user.slice(index));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  }
  throw new EngineError(
    `expected the user message of ${name} to end with a JSON object on its own line, got none; check the prompt`,
    { code: 'model_misconfigured', retryable: false },
  );
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** What arrives is read for what it should be; anything else counts as empty. */
export const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

export const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

/** A text, or the text parts of a content that has several. */
export function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return listOf(value)
    .map((part) => textOf(objectOf(part).text))
    .filter((text) => text !== '')
    .join('\n');
}
