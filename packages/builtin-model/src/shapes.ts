import type { Json, JsonObject } from '@slowwave/engine';

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
