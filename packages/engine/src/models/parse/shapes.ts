import { cleanText } from '../../text/normalise.ts';
import type { Json, JsonObject } from '../../words.ts';

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One entry of a list, or of an object used as one. */
export interface Item {
  readonly key: string | null;
  readonly item: Json;
}

/** The items of a list, or of an object used as one; null when it is neither. An object without entries is no list. */
function itemsOf(value: Json | undefined): readonly Item[] | null {
  if (Array.isArray(value)) return value.map((item) => ({ key: null, item }));
  if (!isObject(value)) return null;
  const items = Object.entries(value).map(([key, item]) => ({ key, item }));
  return items.length === 0 ? null : items;
}

/** The list under the first of these keys that has one. */
export const listUnder = (value: Json, keys: readonly string[]): readonly Item[] | null =>
  listsUnder(value, keys)[0] ?? null;

/** The lists under all of these keys. */
export function listsUnder(value: Json, keys: readonly string[]): readonly (readonly Item[])[] {
  const places = isObject(value) ? keys.map((key) => value[key]) : Array.isArray(value) ? [value] : [];
  return places.flatMap((place) => {
    const items = itemsOf(place);
    return items === null ? [] : [items];
  });
}

/** Texts in texts, at most. */
const WRAPPED_MAX = 4;

/** A text under the first of these keys, also when it is wrapped once more: {"text": {"text": "…"}}. */
export function textUnder(item: JsonObject, keys: readonly string[], depth = 0): string | null {
  for (const key of keys) {
    const value = item[key];
    const text = textOfString(value);
    if (text !== null) return text;
    const inner = isObject(value) && depth < WRAPPED_MAX ? textUnder(value, keys, depth + 1) : null;
    if (inner !== null) return inner;
  }
  return null;
}

/** A string with something in it. Cleaned here as well: escapes in JSON can bring half characters back. */
export function textOfString(value: Json | undefined): string | null {
  const text = typeof value === 'string' ? cleanText(value).trim() : '';
  return text === '' ? null : text;
}

/** A word the model should have written as a string: numbers count as well. */
export function wordUnder(item: JsonObject, key: string): string | null {
  const value = item[key];
  return typeof value === 'number' ? String(value) : textOfString(value);
}

export function wordsUnder(item: JsonObject, key: string): readonly string[] {
  const value = item[key];
  const list = Array.isArray(value) ? value : [value ?? null];
  return list.flatMap((word) => (typeof word === 'string' || typeof word === 'number' ? [String(word).trim()] : []));
}
