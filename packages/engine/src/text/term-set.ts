import { terms } from './terms.ts';

/** About ten megabytes: those who talk now ask the same memories again and again. */
const TEXTS = 10_000;
const known = new Map<string, ReadonlySet<string>>();

/** The different terms of a text, worked out once for the texts that were last asked for. */
export function termSet(text: string): ReadonlySet<string> {
  const set = known.get(text) ?? new Set(terms(text));
  // What is asked for again goes to the end; what nobody has asked for is at the front.
  known.delete(text);
  known.set(text, set);
  for (const oldest of known.keys()) {
    if (known.size <= TEXTS) break;
    known.delete(oldest);
  }
  return set;
}
