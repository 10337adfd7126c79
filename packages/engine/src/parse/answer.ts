import { cleanText } from '../text/normalise.ts';
import type { Json } from '../words.ts';
import { type Loose, readLoose } from './loose-json.ts';
import { endsThinking, withoutThinking } from './thinking.ts';

/** What could be read from a model's answer. */
export interface Reading<T> {
  readonly value: T;
  /** false when the answer broke off: there may have been more. */
  readonly complete: boolean;
}

type Shape<T> = (value: Json) => T | null;

/**
 * The one way from a model's text to a value: thinking, fences, prose and special tokens around the JSON are passed
 * over; of several JSON values the first complete one wins in which `shape` finds what it wants, else a broken-off
 * one. null: nothing usable.
 */
export function readAnswer<T>(text: string, shape: Shape<T>): Reading<T> | null {
  const cleaned = unquoted(cleanText(text).trim());
  // What is JSON from its first character on is taken as it is: a thinking tag in it is part of what it says.
  const first = readLoose(cleaned, 0);
  const whole = first?.complete === true && !endsThinking(cleaned.slice(first.end)) ? shape(first.value) : null;
  if (whole !== null) return { value: whole, complete: true };
  let partial: Reading<T> | null = null;
  for (const { value: json, complete } of valuesIn(bare(cleaned), shape)) {
    const value = shape(json);
    if (value === null) continue;
    if (complete) return { value, complete };
    partial ??= { value, complete };
  }
  return partial;
}

/** The text without what models put around their answers. */
const bare = (text: string): string => withoutThinking(text.replace(/<\|[^|>]*\|>/gu, ' '));

/** Some models write the whole answer as one JSON string. */
function unquoted(text: string): string {
  if (!/^"\s*[\\{[]/u.test(text)) return text;
  const loose = readLoose(text, 0);
  return loose?.complete === true && typeof loose.value === 'string' ? loose.value.trim() : text;
}

/** More brackets than any prose around an answer has; keeps hostile output from costing quadratic time. */
const STARTS_MAX = 200;

/** Every JSON object or array in a text, in order; what is inside of one only where `shape` finds nothing in the whole. */
function* valuesIn(text: string, shape: Shape<unknown>): Generator<Pick<Loose, 'value' | 'complete'>> {
  const opening = /[[{]/gu;
  for (let starts = 0; starts < STARTS_MAX; starts += 1) {
    const found = opening.exec(text);
    if (found === null) return;
    const loose = readLoose(text, found.index);
    if (loose === null) continue;
    const value = underItsKey(text, found.index, loose.value);
    yield { value, complete: loose.complete };
    if (shape(value) !== null) opening.lastIndex = Math.max(loose.end, found.index + 1);
  }
}

/** Longer than any key of an answer. */
const KEY_MAX = 60;

/** A value inside of a broken object is still only what its key says: ["m0"] under "source_ids" is no list of facts. */
function underItsKey(text: string, at: number, value: Json): Json {
  const before = text.slice(Math.max(0, at - KEY_MAX), at);
  const key = /["']([^"'\n]*)["']\s*:\s*$/u.exec(before)?.[1];
  return key === undefined ? value : { [key]: value };
}
