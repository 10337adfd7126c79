import { isObject, textOfString, wordsUnder } from '../models/parse/listed.ts';
import type { Json } from '../words.ts';

/** More than this of one step is left out. */
const QUERIES_MAX = 4;
const AROUND_MAX = 3;
const QUERY_CHARS_MAX = 300;
const CITES_MAX = 50;

/** What a model wants to do next; nothing in it is believed yet. */
export interface Step {
  readonly answer: string | null;
  readonly cites: readonly string[];
  readonly queries: readonly string[];
  readonly around: readonly string[];
}

const KEYS = ['answer', 'queries', 'around', 'cites'];

/** null: not a step at all. */
export function stepIn(value: Json): Step | null {
  if (!isObject(value) || !KEYS.some((key) => key in value)) return null;
  const words = (key: string): string[] => [...new Set(wordsUnder(value, key).filter((word) => word !== ''))];
  return {
    answer: textOfString(value.answer),
    cites: words('cites').slice(0, CITES_MAX),
    queries: words('queries')
      .slice(0, QUERIES_MAX)
      .map((query) => query.slice(0, QUERY_CHARS_MAX)),
    around: words('around').slice(0, AROUND_MAX),
  };
}
