import { cleanText } from '../text/normalise.ts';
import type { Json } from '../words.ts';
import { type Loose, readLoose } from './loose-json.ts';

/** What could be read from a model's answer. */
export interface Reading<T> {
  readonly value: T;
  /** false when the answer broke off: there may have been more. */
  readonly complete: boolean;
}

/**
 * The one way from a model's text to a value: thinking, fences, prose and special tokens around the JSON are passed
 * over; of several JSON values the first complete one wins in which `shape` finds what it wants, else a broken-off
 * one. null: nothing usable.
 */
export function readAnswer<T>(text: string, shape: (value: Json) => T | null): Reading<T> | null {
  let partial: Reading<T> | null = null;
  for (const loose of valuesIn(bare(text))) {
    const value = shape(loose.value);
    if (value === null) continue;
    if (loose.complete) return { value, complete: true };
    partial ??= { value, complete: false };
  }
  return partial;
}

/** The text without what models put around their answers. */
function bare(text: string): string {
  const cleaned = cleanText(text).replace(/<\|[^|>]*\|>/gu, ' ');
  const closed = cleaned.replace(/<(think|thinking|reasoning|thought)>.*?<\/\1>/gisu, ' ');
  // A thinking tag that was never opened, or never closed: what counts stands after the last closing one.
  const tail = closed.split(/<\/(?:think|thinking|reasoning|thought)>/giu).at(-1) ?? closed;
  return tail.replace(/<(?:think|thinking|reasoning|thought)>.*$/gisu, ' ');
}

/** More brackets than any prose around an answer has; keeps hostile output from costing quadratic time. */
const STARTS_MAX = 200;

/** Every outermost JSON object or array in a text, in order. */
function* valuesIn(text: string): Generator<Loose> {
  const opening = /[[{]/gu;
  for (let starts = 0; starts < STARTS_MAX; starts += 1) {
    const found = opening.exec(text);
    if (found === null) return;
    const loose = readLoose(text, found.index);
    if (loose === null) continue;
    yield loose;
    opening.lastIndex = Math.max(loose.end, found.index + 1);
  }
}
