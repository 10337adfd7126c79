import type { Json } from '../../words.ts';
import { isObject, textUnder } from './shapes.ts';

/** What is wanted of an answer that is one text, under the first of these keys. */
export const textUnderKeys =
  (...keys: readonly string[]) =>
  (value: Json): string | null =>
    isObject(value) ? textUnder(value, keys) : null;
